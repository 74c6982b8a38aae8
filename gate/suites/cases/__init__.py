"""The cases of a suite: read, checked, sampled, extended."""
