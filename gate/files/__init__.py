"""Bytes that nobody trusts, into values with their line: encodings, JSON, YAML, CSV, zip, XML, JSON
Schema; and locks.
"""
