"""Perform the moves of a plan run."""
