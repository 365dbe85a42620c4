"""Pull requests, issues and remote branches of a forge, by the user's own `gh`."""
