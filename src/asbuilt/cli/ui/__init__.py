"""What draws on a terminal: the screen, columns, times, questions."""
