"""One agent protocol a file."""
