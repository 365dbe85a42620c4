"""What is to be done? Markdown in, model out, byte-true edits. Pure: no file, no clock, no process."""
