"""Judge a phase: check a verifier's opinion against the evidence."""
