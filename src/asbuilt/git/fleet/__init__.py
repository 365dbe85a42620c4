"""Repositories of a fleet: a mirror of each remote in the worker's state folder."""
