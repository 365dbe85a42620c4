"""One database, SQLite or Postgres, and the same SQL for both."""
