"""Which run may go on: the line of runs that land on a branch."""
