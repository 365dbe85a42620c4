"""State of a conversation: identity, reloads, reminders. Light: a hook imports this."""
