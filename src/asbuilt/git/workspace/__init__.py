"""Folders that agents and checks work in: made from a tree, kept as snapshots, removed."""
