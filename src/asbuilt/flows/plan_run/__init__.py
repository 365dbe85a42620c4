"""Perform the moves of a run, segment by segment."""
