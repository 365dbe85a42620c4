"""What a conversation remembers across contexts: tokens used, notes, and a pending reload."""
