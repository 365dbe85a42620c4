"""Two who want the same thing at the same instant, a thousand times: one gets it, the other is told."""
