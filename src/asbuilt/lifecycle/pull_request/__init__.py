"""Pull requests: their facts, reviews of drafts in them, and what must hold after a landing by one. Pure."""
