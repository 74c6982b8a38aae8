"""Bytes that nobody trusts, into values with their line; and locks.

Encodings, JSON, YAML, CSV, zip, XML, JSON Schema.
"""
