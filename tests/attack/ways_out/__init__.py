"""Ways out of a sandbox whose network is a list."""
