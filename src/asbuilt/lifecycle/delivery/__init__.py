"""Shared by plan runs, landings and undos: landing, sign-offs and pull requests. Pure."""
