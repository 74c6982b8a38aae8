"""A merge request of GitLab: what a job says of it, and its notes."""
