"""Graders as the gate uses them; a user's own grader runs in a separate process."""
