"""One metric family a file."""
