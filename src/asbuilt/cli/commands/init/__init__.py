"""Install asbuilt's commands into the user's agents, and remove them. Nothing is put into a repository."""
