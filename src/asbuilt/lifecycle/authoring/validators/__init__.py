"""Validate the outputs of stages. Pure; only visible text counts."""
