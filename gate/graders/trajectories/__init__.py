"""What an agent's steps say of the way it took: length, loops, errors, and how two ways differ.

Definitions for users: docs/trajectories.md, "Score, efficiency, loops, recovery".
"""
