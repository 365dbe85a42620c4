"""Which run may continue: the queue of runs that land on a branch, and breakers of agents' accounts."""
