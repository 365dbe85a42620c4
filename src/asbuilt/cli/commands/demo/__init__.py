"""`asbuilt demo`: a whole run of a small plan in a folder of its own, without a model."""
