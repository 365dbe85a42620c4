"""Claude Code, driven over its stream-json control protocol."""
