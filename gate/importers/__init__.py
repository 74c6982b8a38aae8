"""One benchmark or trace format a file."""
