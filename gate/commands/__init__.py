"""One command a file: parsed options in, exit code out."""
