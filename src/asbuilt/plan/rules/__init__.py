"""Rules that a plan is held to: what is wrong with it, how long it may be, what users see, what is stale."""
