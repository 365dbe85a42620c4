"""A run of a plan's phases: fold its events and choose its next move. Pure."""
