"""Secrets, sockets and keys planted around a sandbox, and a program inside that looks for them."""
