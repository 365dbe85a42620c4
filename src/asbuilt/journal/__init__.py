"""Append-only events, and the rows that change with them: runs, claims, approvals."""
