"""The mechanism behind every kind of plug-in: a name, a frozen dataclass whose fields are its
options.

Ours register themselves with a decorator and are found by the names of their modules. A user's own
runs in a process of its own (gate/user_code).
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Generic, TypeVar

from gate.errors import UsageError
from gate.text.suggestions import did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Names of one kind of plug-in -> the class that implements it.

    One of ours stands in the module of its name, so all names are known without an import; a module
    is imported when its plug-in is asked for. `between`: what its name has for each `_`.
    """

    def __init__(self, kind: str, package: str, between: str = "_") -> None:
        self.kind = kind
        self.package = package
        self._between = between
        self._found: dict[str, type[T]] = {}
        self._modules: dict[str, str] = {}  # name -> the module it stands in

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Class decorator; a second class of the same name is our bug and raises ValueError."""

        def add(cls: type[T]) -> type[T]:
            if name in self._found:
                raise ValueError(f"two {self.kind}s are called {name!r}")
            self._found[name] = cls
            return cls

        return add

    def names(self) -> tuple[str, ...]:
        return tuple(sorted({*self._found, *self._ours()}))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        return bool(name) and (name in self._found or name in self._ours())

    def get_class(self, name: str) -> type[T]:
        """The class that this project registered as `name`; UsageError with the nearest name."""
        if name not in self._found:
            if name not in self._ours():
                raise UsageError(f"unknown {self.kind} '{name}'{did_you_mean(name, self.names())}")
            module = self._ours()[name]
            importlib.import_module(module)
            if name not in self._found:
                raise ValueError(f"{module} registers no {self.kind} called {name!r}")
        return self._found[name]

    def load(self) -> None:
        """Imports every plug-in now, not when it is asked for."""
        for name in self.names():
            self.get_class(name)

    def _ours(self) -> Mapping[str, str]:
        if not self._modules:
            package = importlib.import_module(self.package)
            self._modules = {
                name.replace("_", self._between): f"{self.package}.{name}"
                for _, name, is_package in pkgutil.iter_modules(package.__path__)
                if not is_package
            }
        return self._modules


class BackgroundImport:
    """A module to be imported while the command waits for something else.

    What a command needs only at its end (numpy, the reporters) loads while the agent is thinking.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins the import in a thread, once."""
        if self._thread is None:
            work = threading.Thread(target=_import_politely, args=(self._module,), daemon=True)
            with suppress(RuntimeError):  # no thread to spare: `loaded` imports it
                work.start()
                self._thread = work

    def load(self) -> ModuleType:
        """The module; imports it now if nobody has begun."""
        if self._thread is not None:
            self._thread.join()
        return importlib.import_module(self._module)


def _import_politely(module: str) -> None:
    """Threads that send a request or take an answer wait 0.5 ms at most, not the usual 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    with suppress(Exception):  # `loaded` meets the same, and tells
        importlib.import_module(module)
    sys.setswitchinterval(before)
