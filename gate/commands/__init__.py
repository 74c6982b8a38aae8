"""One command a file: a plain function that takes parsed options and returns the exit code."""
