"""A fleet: several machines on one database that work on the same repositories. Pure."""
