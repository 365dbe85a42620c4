"""The tasks of a repository, by number: append-only events, and one row per task."""
