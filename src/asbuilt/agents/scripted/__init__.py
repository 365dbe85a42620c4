"""An agent that plays a TOML script, for tests and for trying asbuilt without a model."""
