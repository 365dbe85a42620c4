"""Which shell commands an agent may run while it plans, and which never. Pure."""
