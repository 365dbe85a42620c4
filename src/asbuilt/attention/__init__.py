"""Channels that notify a user who is not watching. Implements the port `Attention`."""
