"""Judge a phase: what a verifier says, looked up in the evidence."""
