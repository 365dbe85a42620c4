"""`asbuilt log`: events of a plan, and what agents wrote."""
