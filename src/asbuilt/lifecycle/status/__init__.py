"""Status of runs, derived from their events: progress, phases, timeline, report. Pure."""
