"""Tool calls: whether they are valid, and whether they are those that a case expects."""
