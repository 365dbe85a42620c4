"""A run that proves finished phases again. Pure."""
