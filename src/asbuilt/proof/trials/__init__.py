"""Check that the tests test the work: old and new tests, mutants, coverage, emptied files. Pure."""
