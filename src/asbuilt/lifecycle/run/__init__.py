"""Shared by all kinds of run: facts, moves, preflight, questions, money, waits and interruptions. Pure."""
