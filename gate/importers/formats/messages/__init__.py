"""Conversations as models, their libraries and their logs write them, one a file, item or line."""
