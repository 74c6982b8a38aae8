"""Why trials fail: one mode for each failed trial, and clusters of failures that look alike."""
