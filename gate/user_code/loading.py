"""How a process with user code finds it, notes which files it consists of, and says where an error
arose. Runs in that process.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.machinery import (
    ExtensionFileLoader,
    ModuleSpec,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from threading import Lock
from types import CodeType, FrameType, FunctionType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, cast

from gate.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import TraceFunction


_NOTHING = object()
_Binary = SourcelessFileLoader | ExtensionFileLoader
_CODE = (".py", ".pyw", ".pyc", ".zip", ".whl", ".egg", ".so", ".pyd")


class Workspace:
    """The checkout: the repository's top folder without what the interpreter itself has in it: a
    `.venv`, another repository that is installed in place.
    """

    def __init__(self, root: Path, around: Path | None = None) -> None:
        """`root`: the folder of gate.yml; `around`: the top folder where it is in no repository."""
        self.root = root.resolve()
        outer = around.resolve() if around is not None else self.root
        self._top = _top_of(self.root) or (outer if self.root.is_relative_to(outer) else self.root)
        paths = sysconfig.get_paths()
        own_paths = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
        own_paths += [
            *site.getsitepackages(),
            site.getusersitepackages(),
            str(Path(__file__).parents[1]),
        ]
        self._installed = [Path(path).resolve() for path in own_paths]
        in_place = {Path(path).resolve() for path in _in_place()}
        inside = (path for path in in_place if path.is_relative_to(self._top))
        self._installed += [path for path in inside if _top_of(path) not in (None, self._top)]
        self._folders: dict[str, bool] = {}
        self._lock = Lock()
        self.files: dict[str, str] = {}  # file as `name_of` has it -> sha256 of what was loaded

    def holds(self, file: str) -> bool:
        """Whether a change to the repository could have written the file."""
        if file.startswith("<"):
            return False
        folder = os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120 - called for each import
        if folder not in self._folders:
            self._folders[folder] = self._is_inside(Path(folder))
        return self._folders[folder]

    def name_of(self, file: str) -> str:
        """Relative to the folder of gate.yml, with slashes; as it is written, so that what a link
        of the checkout leads to has the link's name.
        """
        written = Path(os.path.abspath(file))  # noqa: PTH100 - links stay
        path = written if written.is_relative_to(self._top) else written.resolve()
        return Path(os.path.relpath(path, self.root)).as_posix()

    def has(self, file: str) -> bool:
        return self.name_of(file) in self.files

    def note_anew(self, file: str, content: bytes) -> None:
        """In the place of what was noted first."""
        with self._lock:
            self.files[self.name_of(file)] = hashlib.sha256(content).hexdigest()

    def note(self, file: str, content: bytes) -> None:
        """A file of the checkout is about to be run as it is in `content`."""
        with self._lock:
            self.files.setdefault(self.name_of(file), hashlib.sha256(content).hexdigest())

    def _is_inside(self, folder: Path) -> bool:
        """Where it is, or where it is written to be: a folder of the checkout may be a link."""
        real = folder.resolve()
        if not (real.is_relative_to(self._top) or folder.is_relative_to(self._top)):
            return False
        return not any(real.is_relative_to(path) for path in self._installed)


def _in_place() -> Iterator[str]:
    """Where the interpreter finds modules beside its own folders: by a path, or by the finder that
    setuptools writes for what is installed in place.
    """
    yield from filter(None, sys.path)
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):
            yield from map(str, getattr(module, "MAPPING", {}).values())


def _top_of(folder: Path) -> Path | None:
    """The nearest folder from here up that is a repository."""
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def pin(name: str) -> None:
    """Later imports of the package take the one that is installed, whatever is put on the path."""
    spec = importlib.util.find_spec(name)
    if spec is not None:
        sys.meta_path.insert(0, cast("Any", _Pinned(spec)))


class _Pinned:
    def __init__(self, spec: ModuleSpec) -> None:
        self._found = spec

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return self._found if name == self._found.name else None


def note_sources(workspace: Workspace) -> None:
    """From now on each file of the checkout that is imported, by whatever means, is noted with its
    hash, and compiled from its source: a file in `__pycache__` may say that it is not to be
    compared with its source.
    """
    usual = SourceFileLoader.get_code

    def from_source(loader: SourceFileLoader, name: str) -> CodeType | None:
        file = loader.get_filename(name)
        if not workspace.holds(file):
            return usual(loader, name)
        content = loader.get_data(file)
        workspace.note(file, content)
        return loader.source_to_code(content, file)

    SourceFileLoader.get_code = from_source  # type: ignore[method-assign, assignment]
    for kind in (SourcelessFileLoader, ExtensionFileLoader):
        _note_binary(kind, workspace)

    def note_event(event: str, arguments: tuple[object, ...]) -> None:
        """Code that comes in another way: out of an archive, by runpy, by exec."""
        if event == "open" and isinstance(file := arguments[0], str) and file.endswith(_CODE):
            with suppress(OSError):
                if workspace.holds(file) and not workspace.has(file):
                    workspace.note(file, b"")  # while it is read, which is an event again
                    workspace.note_anew(file, Path(file).read_bytes())

    sys.addaudithook(note_event)


def _note_binary(kind: type[_Binary], workspace: Workspace) -> None:
    entry = "create_module" if kind is ExtensionFileLoader else "get_code"
    usual: Callable[[_Binary, object], object] = getattr(kind, entry)

    def load_and_note(loader: _Binary, about: object) -> object:
        if workspace.holds(loader.path):
            workspace.note(loader.path, Path(loader.path).read_bytes())
        return usual(loader, about)

    setattr(kind, entry, load_and_note)


def load_object(spec: str, workspace: Workspace, *, workspace_first: bool) -> tuple[object, str]:
    """What `package.module:attribute` or `./file.py:attribute` names, relative to the folder of
    gate.yml, and its module's name. Raises UsageError if it is not there, and whatever the code
    itself raises.
    """
    where, _, path = spec.rpartition(":")
    if where.endswith(".py"):
        module = _load_file(workspace.root / where, spec)
    else:
        module = _load_module(where, spec, workspace.root, first=workspace_first)
    return _attribute(module, path, spec, where), module.__name__


def _attribute(module: ModuleType, path: str, spec: str, where: str) -> object:
    """What `agent.aquery` leads to. Raises UsageError, also for a method of a class that nobody has
    made an object of.
    """
    value: object = module
    for name in path.split("."):
        inside, value = value, getattr(value, name, _NOTHING)
        if value is _NOTHING:
            owner = where if inside is module else f"'{path[: path.rindex('.' + name)]}' in {where}"
            raise UsageError(f"'{spec}': {owner} has no '{name}'")
        if isinstance(inside, type) and isinstance(inside.__dict__.get(name), FunctionType):
            raise UsageError(
                f"'{spec}': '{name}' is a method of the class {inside.__name__}: create "
                "an object in "
                f"the file, as `agent = {inside.__name__}(...)`, and write `agent.{name}`"
            )
    return value


def _load_module(name: str, spec: str, root: Path, *, first: bool) -> ModuleType:
    if str(root) not in sys.path:
        sys.path.insert(0 if first else len(sys.path), str(root))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(f"'{spec}': cannot import {name}: {error}") from error
        raise


def _load_file(path: Path, spec: str) -> ModuleType:
    """One module object a file, so that two suites that name it share its state."""
    name = "gate_user_" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise UsageError(f"'{spec}': file {path} not found - check its path")
    file_spec = cast("ModuleSpec", importlib.util.spec_from_file_location(name, path))
    module = importlib.util.module_from_spec(file_spec)
    sys.modules[name] = module
    try:
        cast("SourceFileLoader", file_spec.loader).exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def trace_lines(workspace: Workspace, reached: Callable[[str], None]) -> None:
    """Tells each line of a module of the checkout before it is run: for a file that ends its
    process while it is loaded, so that no traceback says where.
    """

    def local(frame: FrameType, event: str, argument: object) -> TraceFunction:
        reached(f"{workspace.name_of(frame.f_code.co_filename)}:{frame.f_lineno}")
        return local

    def trace_call(frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        code = frame.f_code
        return local if code.co_name == "<module>" and workspace.holds(code.co_filename) else None

    sys.settrace(trace_call)


def place_of(error: BaseException, workspace: Workspace) -> str:
    """`file:line` of the user's code where the error arose; empty where none of it was running."""
    if isinstance(error, SyntaxError) and error.filename and workspace.holds(error.filename):
        return f"{workspace.name_of(error.filename)}:{error.lineno}"
    places = [
        f"{workspace.name_of(file)}:{line}"
        for file, line in _lines(error.__traceback__)
        if workspace.holds(file)
    ]
    if not places and error.__cause__ is not None:
        return place_of(error.__cause__, workspace)
    return places[-1] if places else ""


def _lines(traceback: TracebackType | None) -> Iterator[tuple[str, int]]:
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
