"""Check environments: a checkout of a tree, its setup, services and logins, and the commands run in it."""
