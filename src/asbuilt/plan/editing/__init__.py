"""Edit a plan's bytes: marks, corrections, refinements, and the template of a new plan."""
