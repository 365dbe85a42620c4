"""Is this machine ready? Probes find typed facts, rows judge them, one page shows them."""
