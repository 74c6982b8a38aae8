"""Agent Gate: blocks a pull request that made an AI agent worse."""

__version__ = "0.2.0"
