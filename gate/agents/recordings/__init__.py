"""Answers that were recorded, asked again."""
