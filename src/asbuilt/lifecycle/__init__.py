"""Choose the next move of a run from its facts. Pure: `flows` performs the moves."""
