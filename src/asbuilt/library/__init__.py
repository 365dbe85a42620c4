"""Where do plans live? Search path, names, identity, and writes that never lose a person's edit."""
