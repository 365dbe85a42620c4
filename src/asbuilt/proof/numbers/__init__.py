"""Numbers that a plan states, compared with what was measured. Pure."""
