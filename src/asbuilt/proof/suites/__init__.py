"""What does a suite check? Tests, assertions and runner settings, read from text: nothing is run."""
