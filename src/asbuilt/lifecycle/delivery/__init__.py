"""Shared by plan runs, landings and undos: changed plans, sign-offs, landing, complete plans. Pure."""
