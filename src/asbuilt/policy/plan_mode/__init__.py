"""Plan mode in a conversation: when it is on, what tools may do and read then, and how it ends. Pure."""
