"""What the pictures of docs/images are made of: the demo's suite."""

from gate.commands.demo import CONFIG, GATE

__all__ = ["CONFIG", "GATE"]
