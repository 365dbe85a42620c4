"""Numbers that a plan states, and the arithmetic that derives them."""
