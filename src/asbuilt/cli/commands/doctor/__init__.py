"""Check the machine: probes collect facts, rows judge them, a page shows them."""
