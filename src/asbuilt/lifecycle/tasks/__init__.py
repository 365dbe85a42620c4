"""Numbered tasks: what one is, what may become of it, how it is planned and how it reads. Pure."""
