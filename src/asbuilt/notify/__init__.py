"""Channels that notify a user who is not watching: desktop and webhooks. Implements the port `Attention`."""
