"""`asbuilt run`: start or continue a plan."""
