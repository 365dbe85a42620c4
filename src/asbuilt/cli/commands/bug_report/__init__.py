"""Build a bundle for a bug report: what explains the problem, and nothing private."""
