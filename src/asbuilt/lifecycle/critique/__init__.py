"""Critique of a plan in rounds that converge. Pure."""
