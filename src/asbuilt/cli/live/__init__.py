"""What does somebody who looks on see? Rows that are computed apart from the terminal that shows them."""
