"""Retrievers: what fetches the documents for a question, asked as an agent is."""
