"""Run a process in the sandbox of this machine: bubblewrap, Landlock or Seatbelt, and a proxy."""
