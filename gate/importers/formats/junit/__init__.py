"""JUnit XML, as test runners of every language write it."""
