"""Texts as vectors, and how near they are to each other."""
