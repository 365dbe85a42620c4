"""A run that takes back what another run has proven or landed. Pure."""
