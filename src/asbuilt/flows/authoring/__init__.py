"""Author a plan: agents in a read-only workspace, validated drafts, an approved file."""
