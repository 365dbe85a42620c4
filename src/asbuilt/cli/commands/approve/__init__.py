"""`asbuilt approve`: everything that waits for the user, and the way to answer."""
