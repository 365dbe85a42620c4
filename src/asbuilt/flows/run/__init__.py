"""What every kind of run shares: its record, its plan's file, briefs, waivers and marks."""
