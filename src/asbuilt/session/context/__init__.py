"""State of a conversation across contexts: tokens used, notes, plans asked for, a pending reload."""
