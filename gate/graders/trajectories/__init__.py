"""What an agent's steps show: length, loops, errors, and differences between trajectories.
Definitions for users: docs/trajectories.md, "Score, efficiency, loops, recovery".
"""
