"""Folders of collections as BEIR has them."""
