"""A run that lands what earlier runs have proven. Pure."""
