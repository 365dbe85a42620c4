"""Put asbuilt into the agents that the user has, and take it away again. Nothing goes into a repository."""
