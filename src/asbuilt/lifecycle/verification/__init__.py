"""A run that proves again what is done. Pure."""
