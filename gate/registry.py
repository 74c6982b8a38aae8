"""The mechanism behind every kind of plug-in: a name, a frozen dataclass whose fields are its
options.

Ours register themselves with a decorator and are found by walking their package; a user's is named
by where it stands:
`package.module:attribute` or `./file.py:attribute`.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Generic, TypeVar, cast

from gate.errors import UsageError

T = TypeVar("T")
_LOADING = threading.RLock()  # no thread sees a file that is half imported


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

    def find(self, name: str, root: Path) -> type[T]:
        """The class called `name`, or the user's own at `module:attr` / `./file.py:attr` (relative
        to `root`).

        Raises UsageError with the nearest right name.
        """
        if ":" in name:
            return load_object(name, root)  # type: ignore[no-any-return]
        return self.registered(name)

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


def did_you_mean(name: str, known: tuple[str, ...] | list[str]) -> str:
    """` - did you mean 'x'?`, or the known names when none is near and there are few."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f" - did you mean '{near[0]}'?"
    return f" - known: {', '.join(known)}" if 0 < len(known) <= 12 else ""


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
            self._thread = work
            work.start()

    def loaded(self) -> Any:
        """The module; imports it now if nobody has begun."""
        if self._thread is not None:
            self._thread.join()
        return importlib.import_module(self._module)


def _import_politely(module: str) -> None:
    """Threads that send a request or take an answer wait 0.5 ms at most, not the usual 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    try:
        importlib.import_module(module)
    finally:
        sys.setswitchinterval(before)


def load_object(spec: str, root: Path) -> Any:
    """What `package.module:attribute` or `./file.py:attribute` (relative to `root`) names;
    UsageError if it is not there.
    """
    where, _, attribute = spec.rpartition(":")
    module = (
        _load_file(root / where, spec) if where.endswith(".py") else _load_module(where, root, spec)
    )
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise UsageError(f"'{spec}': {where} has no '{attribute}'") from None


def _load_module(name: str, root: Path, spec: str) -> ModuleType:
    folder = root.resolve()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        found = None if name in sys.modules else importlib.util.find_spec(name)
        if found and found.origin and found.origin.endswith(".py"):
            path = Path(found.origin)
            if path.is_relative_to(folder):
                with _LOADING:
                    return sys.modules.get(name) or _part_of_its_package(_made(name, path))
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"'{spec}': cannot import {name}: {error}") from error


def _load_file(path: Path, spec: str) -> ModuleType:
    """One module object a file, so that two suites that name it share its state."""
    with _LOADING:
        return _loaded_file(path, spec)


def _loaded_file(path: Path, spec: str) -> ModuleType:
    name = "gate_user_" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise UsageError(f"'{spec}': there is no file {path}")
    try:
        return _made(name, path)
    except Exception as error:
        unknown = isinstance(error, ModuleNotFoundError)
        hint = " - name it as module:attribute to import what lies beside it" if unknown else ""
        raise UsageError(
            f"'{spec}': {path} does not load: {type(error).__name__}: {error}{hint}"
        ) from error


class _FromSource(SourceFileLoader):
    """Never from `__pycache__`: a compiled file that is committed may say that it is not to be
    compared with its source, and it is the source that is hashed.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _part_of_its_package(module: ModuleType) -> ModuleType:
    package, _, own = module.__name__.rpartition(".")
    if package:
        setattr(sys.modules[package], own, module)
    return module


def _made(name: str, path: Path) -> ModuleType:
    loader = _FromSource(name, str(path))
    is_package = [str(path.parent)] if path.name == "__init__.py" else None
    found = importlib.util.spec_from_file_location(
        name, path, loader=loader, submodule_search_locations=is_package
    )
    module = importlib.util.module_from_spec(cast("ModuleSpec", found))
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
