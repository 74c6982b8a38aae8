"""gate.yml: read, checked, completed, built into records."""
