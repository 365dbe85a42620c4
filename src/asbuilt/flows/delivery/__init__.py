"""What a plan run, a landing and an undo share: compare, land, mark, tidy, pull requests."""
