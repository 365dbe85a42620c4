"""Permission decisions, plan mode and sandbox rules. Pure and light: a hook loads this package."""
