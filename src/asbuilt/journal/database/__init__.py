"""One database, SQLite or Postgres, with the same SQL for both."""
