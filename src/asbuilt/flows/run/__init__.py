"""What every kind of run shares: record, plan file, repository checks, briefs, waivers, drift and marks."""
