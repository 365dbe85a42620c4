"""What people read, computed from rows and events. Nothing here writes."""
