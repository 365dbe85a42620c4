"""State of a conversation across contexts: tokens used, notes, and a pending reload."""
