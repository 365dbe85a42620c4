"""The decision core in a world of its own: one seed makes the plans, the agents, the people and the faults."""
