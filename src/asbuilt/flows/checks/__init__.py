"""Run checks, and inspect what an attempt changed."""
