"""Columns are counted in `cli.columns`; plan commands know them by this name."""

from asbuilt.cli.columns import cut_path, pad, shorten, width

__all__ = ["cut_path", "pad", "shorten", "width"]
