"""`asbuilt approve`: list and answer everything that waits for the user."""
