"""Plan mode in a conversation: when it is on, what each tool may do then, and how it ends. Pure."""
