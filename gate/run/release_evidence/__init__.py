"""A release's evidence: written, and computed again from its parts."""
