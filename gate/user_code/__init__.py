"""Code of the user's, run in processes of its own. Whatever it does, no verdict depends on it.

docs/user-code.md says what users meet, docs/decisions/0019-user-code.md why it is so.
"""
