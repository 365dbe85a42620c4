"""What must this conversation know? Its identity, its reloads, its reminders. Light: a hook loads this."""
