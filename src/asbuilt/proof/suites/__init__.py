"""Compare what a suite checks: tests, assertions and runner settings, from their texts. Runs nothing."""
