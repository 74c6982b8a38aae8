"""Agent Gate: blocks a pull request that made an AI agent worse."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gate.interface import check_gates, compare, evaluate

__version__ = "0.2.0"
__all__ = ["__version__", "check_gates", "compare", "evaluate"]


def __getattr__(name: str) -> Any:  # a name of the interface, as its module types it
    """The Python interface is loaded where it is used: `import gate` alone stays cheap."""
    if name in ("check_gates", "compare", "evaluate"):
        return getattr(import_module("gate.interface"), name)
    raise AttributeError(f"module 'gate' has no attribute '{name}'")
