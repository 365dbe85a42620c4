"""Rows of segments and workers, and locks that show which process is alive."""
