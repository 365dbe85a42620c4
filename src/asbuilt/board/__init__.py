"""The board: every plan, agent and question in a browser, on this machine only."""
