"""Which files of the checkout each object of the user's consists of: its module, and whatever of
the checkout that imports, however far away. Runs in the process with user code.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from gate.user_code.loading import Workspace

_BUILT_IN = frozenset(("__import__", "exec", "eval", "compile"))
_METHODS = frozenset(
    (
        *("import_module", "run_path", "run_module", "exec_module", "load_module", "modules"),
        *("spec_from_file_location", "find_spec"),
    )
)


def files_by_object(modules: Mapping[str, str], workspace: Workspace) -> dict[str, dict[str, str]]:
    """Name in gate.yml -> file -> sha256 of what was loaded. `modules`: name -> module.

    A file that was loaded and that no import statement leads to belongs to every object; so do all
    files to an object that loads code in other ways than by import statements.
    """
    files = _files_of_modules(workspace)
    reached = {spec: _find_reached(module, files, workspace) for spec, module in modules.items()}
    stray = workspace.files.keys() - {file for found in reached.values() for file in found}

    def all_of(modules: set[str]) -> set[str]:
        otherwise = any(_loads_otherwise(workspace.root / file) for file in modules)
        return {*workspace.files} if otherwise else modules | stray

    return {
        spec: {file: workspace.files[file] for file in sorted(all_of(found))}
        for spec, found in reached.items()
    }


def _files_of_modules(workspace: Workspace) -> dict[str, str]:
    """Module -> file, of those that were noted."""
    file_by_module = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and (file_name := workspace.name_of(file)) in workspace.files:
            file_by_module[name] = file_name
    return file_by_module


def _find_reached(module: str, files: Mapping[str, str], workspace: Workspace) -> set[str]:
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in files:
            continue
        seen.add(name)
        waiting += _packages(name)
        waiting += _find_imports(name, workspace.root / files[name])
    return {files[name] for name in seen}


def _loads_otherwise(file: Path) -> bool:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True
    nodes = list(ast.walk(tree))
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    used |= {node.name for node in nodes if isinstance(node, ast.alias)}
    called = {node.id for node in nodes if isinstance(node, ast.Name)}
    return bool(called & _BUILT_IN or used & _METHODS)


def _packages(name: str) -> Iterator[str]:
    """Those around a module: they are imported before it."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _find_imports(name: str, file: Path) -> Iterator[str]:
    """Modules that its import statements, wherever they stand, could mean."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    package = getattr(sys.modules.get(name), "__package__", None) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from (alias.name, *_packages(alias.name))
        elif isinstance(node, ast.ImportFrom):
            start = node.module or ""
            if node.level:
                start = _absolute("." * node.level + start, package)
            yield from (start, *_packages(start), *(f"{start}.{one.name}" for one in node.names))


def _absolute(relative: str, package: str) -> str:
    try:
        return importlib.util.resolve_name(relative, package)
    except (ImportError, ValueError):
        return ""
