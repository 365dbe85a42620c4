"""What a plan run, a landing and an undo share: landing, sign-offs, pull requests. Pure."""
