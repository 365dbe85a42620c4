"""A run that reverts what another run has proven or landed. Pure."""
