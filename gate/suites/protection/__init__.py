"""What a pull request cannot change: the base branch's rules; and what it makes easier for
itself.
"""
