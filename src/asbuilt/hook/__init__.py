"""Claude Code's door: one light entry point for every hook event."""
