"""Shell commands that an agent may run in plan mode, and those that it may never run. Pure."""
