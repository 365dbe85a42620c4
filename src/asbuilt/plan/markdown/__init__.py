"""A plan's Markdown: bytes, lines, blocks, sections, lists, tables, front matter, and the phases in them."""
