"""Another tool's results in place of a run: found, read, judged."""
