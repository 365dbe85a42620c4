"""Where does it happen? Workspaces, snapshots, commits and landings, by the git command line alone."""
