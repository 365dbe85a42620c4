"""`asbuilt run`: start, continue or schedule a plan; what refuses a start, and what is confirmed first."""
