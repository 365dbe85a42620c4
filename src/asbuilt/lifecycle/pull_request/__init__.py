"""A landing by pull request: its facts, next move and repairs, and what must not be left behind. Pure."""
