"""A string in, a string or a number out: escape, redact, fence, format, search."""
