"""The decision core in a world of its own: one seed makes its plans, agents, people and faults."""
