"""How does it proceed? Durable segments that decide and perform; the only package that imports dbos."""
