"""Which worker has which segment: rows of segments and workers, and locks that show who is alive."""
