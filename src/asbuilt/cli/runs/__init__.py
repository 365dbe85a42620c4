"""Shared code of the commands about runs: state, waits, decisions, terms and schedules."""
