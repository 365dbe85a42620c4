"""`asbuilt demo`: a whole run of a small plan in a temporary folder, without a model."""
