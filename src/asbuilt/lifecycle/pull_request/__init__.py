"""A landing by pull request: its next move, and what must hold afterwards. Pure."""
