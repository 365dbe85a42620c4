"""Numbers that a plan states, compared with measured values. Pure."""
