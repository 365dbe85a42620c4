"""What must an output of a stage hold? Pure; only what a reader sees counts."""
