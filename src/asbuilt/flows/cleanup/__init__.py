"""Find and delete leftovers of finished runs."""
