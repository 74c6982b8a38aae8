"""Recorded answers in place of an agent: read, graded in several processes, collected in order."""
