"""A Report in, text out: sentences, formats, exports, history."""
