"""A string in, a string or a number out: escaped, redacted, fenced, formatted, searched."""
