"""Test runs as deepeval writes them, and results dumped from its Python objects."""
