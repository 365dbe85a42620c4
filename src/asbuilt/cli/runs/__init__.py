"""What the commands about runs share: state, waits, decisions, terms and schedules."""
