"""Give a phase to an agent and wait for its result."""
