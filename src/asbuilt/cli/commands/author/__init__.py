"""`asbuilt author`: a sentence becomes a plan that you approve."""
