"""Terminal output and input: screen, columns, times, questions."""
