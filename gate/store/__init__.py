"""What is kept on disk: a session's files, and the measurements of earlier runs."""
