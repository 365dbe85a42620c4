"""Is it really done? Checks, evidence and verdicts. Pure: it judges what others ran."""
