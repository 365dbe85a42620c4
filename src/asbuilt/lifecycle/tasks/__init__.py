"""Numbered tasks: their model, statuses, planning and views. Pure."""
