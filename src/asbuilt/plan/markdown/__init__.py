"""A plan's Markdown: bytes, lines, blocks, sections, lists, tables and front matter."""
