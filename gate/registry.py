"""The mechanism behind every kind of plug-in: a name, a frozen dataclass whose fields are its
options.

Ours register themselves with a decorator and are found by walking their package. A user's own runs
in a process of its own (gate/user_code).
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Generic, TypeVar

from gate.errors import UsageError
from gate.text.suggestions import did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Names of one kind of plug-in -> the class that implements it.

    Modules of `package` are imported at the first look-up, never at import time.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self.package = package
        self._found: dict[str, type[T]] = {}
        self._walked = False

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Class decorator; a second class of the same name is our bug and raises ValueError."""

        def add(cls: type[T]) -> type[T]:
            if name in self._found:
                raise ValueError(f"two {self.kind}s are called {name!r}")
            self._found[name] = cls
            return cls

        return add

    def names(self) -> tuple[str, ...]:
        self._walk()
        return tuple(sorted(self._found))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._ours(name) is not None

    def registered(self, name: str) -> type[T]:
        """The class that this project registered as `name`; UsageError with the nearest name."""
        found = self._ours(name)
        if found is None:
            raise UsageError(f"unknown {self.kind} '{name}'{did_you_mean(name, self.names())}")
        return found

    def _ours(self, name: str) -> type[T] | None:
        """A plug-in usually stands in the module of its name: then no other one is imported."""
        if name not in self._found and not self._walked:
            inner = name.replace("-", "_")
            module = f"{self.package}.{inner}"
            if inner.isidentifier() and importlib.util.find_spec(module) is not None:
                importlib.import_module(module)
            if name not in self._found:
                self._walk()
        return self._found.get(name)

    def _walk(self) -> None:
        if self._walked:
            return
        package = importlib.import_module(self.package)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{self.package}.{module.name}")
        self._walked = True


class Meanwhile:
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

    def loaded(self) -> Any:
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
