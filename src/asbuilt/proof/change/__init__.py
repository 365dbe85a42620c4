"""What a change contains that no test shows: stubs, loosened settings, files out of scope. Pure."""
