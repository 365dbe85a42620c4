"""Do the tests test the work? Old and new tests, mutants, coverage and emptied files. Pure."""
