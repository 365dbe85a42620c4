"""Author a plan in stages: fold its events, judge each draft, take reviews, choose the next move. Pure."""
