"""Pull requests, issues and remote branches of a forge, through the user's own `gh`."""
