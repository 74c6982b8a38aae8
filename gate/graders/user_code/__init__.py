"""Graders as everybody uses them; a user's own is asked in a process of its own."""
