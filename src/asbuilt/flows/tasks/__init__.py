"""Plan or research a numbered task, and record its result."""
