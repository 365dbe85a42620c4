"""A year of schedules, on a clock that somebody sets."""
