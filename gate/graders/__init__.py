"""One grader a file."""
