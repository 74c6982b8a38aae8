"""GitHub: what an event means, the REST API, comments, artifacts, outputs."""
