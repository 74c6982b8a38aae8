"""A report in, text out: sentences, formats, exports and the history."""
