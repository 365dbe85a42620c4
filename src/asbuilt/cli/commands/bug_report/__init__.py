"""A bundle that a person can attach to a report: what is needed to understand, and nothing private."""
