"""Find, name, read and write plan files and progress documents, without ever losing a user's edit."""
