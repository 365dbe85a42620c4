"""How far runs are, derived from their events: progress, phases, timeline, report. Pure."""
