"""Notify the user: enqueue an event's notice, and send what is due."""
