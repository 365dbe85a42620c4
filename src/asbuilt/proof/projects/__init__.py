"""Which suites does a project have, and what prepares a checkout for them? Pure."""
