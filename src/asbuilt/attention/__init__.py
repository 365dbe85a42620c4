"""Who has to know? The ways to a person who does not look on. The port `Attention`."""
