"""index.html of a folder of sessions: a table of all, and any two of them compared."""
