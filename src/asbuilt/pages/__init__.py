"""The report of a run as a document, and the document as Markdown and HTML. Pure."""
