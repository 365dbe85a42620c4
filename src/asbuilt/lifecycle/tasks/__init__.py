"""Numbered tasks: their model, statuses, planning, results, postflight and views. Pure."""
