"""What a session is written as for other tools: one file a format."""
