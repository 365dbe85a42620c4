"""Find, name, read and write plan files, without ever losing a user's edit."""
