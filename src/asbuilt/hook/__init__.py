"""Entry point for every Claude Code hook event. Light: it runs on every tool call."""
