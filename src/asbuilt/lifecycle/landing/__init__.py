"""A run that lands work that earlier runs proved. Pure."""
