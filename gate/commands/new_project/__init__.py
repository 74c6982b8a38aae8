"""What `gate init` writes for an agent of the user's own."""
