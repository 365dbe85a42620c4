"""How does it read? An account as a document, and the document as Markdown and HTML. Pure."""
