"""Move commits onto a branch of the user's repository."""
