"""What every kind of run shares: its record, its plan file, briefs, waivers and marks."""
