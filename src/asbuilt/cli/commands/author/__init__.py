"""`asbuilt author`: turn a prompt into a plan that the user approves."""
