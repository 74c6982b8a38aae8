"""Rows with an answer and its scores, as tools that keep traces export them."""
