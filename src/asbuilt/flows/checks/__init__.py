"""Prepare a run to prove, run checks, and inspect what an attempt changed."""
