"""The words for each kind of event, by subject. `cli.telling` puts them together."""
