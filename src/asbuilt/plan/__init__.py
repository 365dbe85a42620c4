"""Plans: parse Markdown into a model, and edit its bytes. Pure: no files, no clock, no processes."""
