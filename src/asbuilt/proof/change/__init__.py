"""Find in a change what no test shows: stubs, loosened settings, files out of scope. Pure."""
