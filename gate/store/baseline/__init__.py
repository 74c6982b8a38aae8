"""The baseline file: its schema, its pool of runs, and where it is looked for."""
