"""Test the tests themselves: on the base, on mutants, on emptied files."""
