"""A run of a plan's phases: its facts and next move, lanes side by side, drift of numbers. Pure."""
