"""Shared by all kinds of run: facts, moves, money, waits, timers and interruptions. Pure."""
