"""The last words of a command: the verdict, and where the session is."""
