"""Texts as vectors, and their similarity."""
