"""When a scheduled plan runs, and what becomes of it then. Pure."""
