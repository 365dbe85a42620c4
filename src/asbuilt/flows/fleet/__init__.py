"""Runs of a fleet: asked for on one machine, worked on by any worker, landed on the remote."""
