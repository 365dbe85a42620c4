"""Find the test suites of a project and the setup of a checkout for them. Pure."""
