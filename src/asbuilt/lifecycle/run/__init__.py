"""What every kind of run shares: its facts and moves, money, waits, timers and interruptions. Pure."""
