"""Workspaces, snapshots, commits and landings, through the git command line only."""
