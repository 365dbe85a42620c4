"""Author a plan in stages: fold its events, judge each draft, choose the next move. Pure."""
