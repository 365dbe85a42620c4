"""Which run may continue: the line of runs that land on a branch, and breakers of agents' accounts."""
