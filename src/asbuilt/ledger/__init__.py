"""What is wanted, by number? Tasks as append-only events and the rows that change with them."""
