"""What comes next? Moves chosen from facts. Pure: the flows perform them."""
