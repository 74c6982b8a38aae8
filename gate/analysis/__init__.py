"""Trials into columns, columns into estimates and comparisons."""
