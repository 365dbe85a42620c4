"""Views for users, computed from rows and events. Read-only."""
