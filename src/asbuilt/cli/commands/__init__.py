"""One file or folder per command."""
