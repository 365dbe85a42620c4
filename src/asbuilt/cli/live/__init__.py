"""Live view of a run. Rows are computed separately from the terminal that shows them."""
