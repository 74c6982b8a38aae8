"""What an event means, the REST API, comments, checks, artifacts; git."""
