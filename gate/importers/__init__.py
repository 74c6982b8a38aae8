"""Another tool's results as trials: one importer a file."""
