"""Folders that agents and checks work in: created from a tree, kept as snapshots, removed."""
