"""Checks, evidence and verdicts: is the work done? Pure: it judges what other parts ran."""
