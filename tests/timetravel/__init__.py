"""The journal of an hour ago beside a repository of now: what was done since is found, not done again."""
