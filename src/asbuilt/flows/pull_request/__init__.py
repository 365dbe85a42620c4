"""Land by pull request: push, propose, repair, merge, clean up."""
