"""Events of a journal: one frozen class per kind. Pure."""
