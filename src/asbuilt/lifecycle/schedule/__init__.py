"""Schedules of plans: when they fire, and what happens then. Pure."""
