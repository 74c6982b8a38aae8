"""The law of the house: what each package is for, who imports whom, what is used where.

A new module goes into the package whose purpose it serves; it may import from that package and from
those above it in HOUSE. Nothing else has to be written down for it.
"""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from gate import plugins
from gate.registry import Registry
from tests.support.cost_bounds import LATE

ROOT = Path(__file__).parent.parent
GATE = ROOT / "gate"

# The ground first. Each imports from the lines before its own; those of one line stand side by side
# and do not import each other. A package's docstring begins with its purpose here.
HOUSE: tuple[Mapping[str, str], ...] = (
    {"errors": "What can go wrong, and whose fault it is."},
    {"records": "The frozen records, in the order in which they flow, and their JSON."},
    {
        "text": "A string in, a string or a number out: escape, redact, fence, format, search.",
        "stats": "Arrays in, numbers out; numpy only, and a generator is an argument.",
        "system": "What the machine gives: processes, threads, clocks, standard streams, limits.",
    },
    {"user_code": "Code of the user's, run in processes of its own."},
    {"files": "Bytes that nobody trusts, into values with their line; and locks."},
    {"registry": "Plug-ins by name, imported when they are asked for."},
    {"plugins": "What each kind of plug-in must do."},
    {"agents": "Whatever is asked, and how: HTTP, wire formats, traces, logs, retrievers, judges."},
    {
        "graders": "One grader a file; a folder for each body of rules that several share.",
        "analysis": "Trials into columns, columns into estimates and comparisons.",
    },
    {
        "suites": "What is to be run: gate.yml, datasets, and what a pull request may not move.",
        "store": "What is kept on disk: sessions, the baseline file and where baselines are found.",
        "importers": "Another tool's results as trials: one importer a file.",
    },
    {"suite_code": "What a suite written as code imports; its address does not change."},
    {
        "verdict": "The only place that says pass: tables, gates and rules in, a Verdict out.",
        "report": "A Report in, text out: sentences, formats, exports, history.",
    },
    {"github": "What an event means, the REST API, comments, checks, artifacts; git."},
    {"gitlab": "A merge request of GitLab: what a job says of it, and its notes."},
    {"run": "The flow: set up, ask, grade, judge, deliver. Every effect is handed in here."},
    {"commands": "One command a file: parsed options in, exit code out."},
    {"cli": "The command line: the one place that reads the environment and ends the process."},
    {"interface": "The Python interface: what the commands say, as functions."},
    {"testing": "For tests of agents, as with pytest: an assertion on a verdict."},
    {"__main__": "python -m gate."},
)
FLOOR = {name: floor for floor, purposes in enumerate(HOUSE) for name in purposes}
PURPOSES = {name: purpose for purposes in HOUSE for name, purpose in purposes.items()}
# What own graders, agents and suites import: its names may be taken from the package itself.
FACADES = ("records",)

ONLY_IN = {  # third-party or delicate module -> where it may be imported
    "requests": ("github",),
    "urllib3": ("github", "agents.http_client"),
    "http.client": ("agents.http_client",),
    "urllib.request": ("agents.http_client",),
    "yaml": ("files.yaml",),
    "jsonschema": ("files.json_schema_messages",),
    "orjson": ("records.codec",),
    "numpy": ("stats", "analysis", "verdict"),
    "jinja2": ("report", "commands.label_review"),
    "rich": ("report", "commands", "run.progress_bar"),
}
PURE = ("errors", "records", "stats", "analysis", "verdict", "graders", "report.wording")
IMPURE = {"time", "random", "secrets", "uuid", "socket", "subprocess"}
PRINTS = ("commands", "cli", "report.console")
READ_ENVIRONMENT = ("cli", "run.cluster.on_worker")  # where processes begin: Dask calls the second
VAGUE = {"utils", "util", "helpers", "manager", "base", "common", "misc"}
MOST_ARGUMENTS = 6  # by position

FILES = sorted(GATE.rglob("*.py"))
PACKAGES = sorted(path.parent.name for path in GATE.glob("*/__init__.py"))


def name_of(path: Path) -> str:
    """`github.api` for gate/github/api.py, `github` for gate/github/__init__.py."""
    return ".".join(path.relative_to(GATE).with_suffix("").parts).removesuffix(".__init__")


NAMES = {name_of(path): path for path in FILES if path != GATE / "__init__.py"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes(name: str, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    return (node for node in ast.walk(tree_of(NAMES[name])) if isinstance(node, kind))


@cache
def imported(name: str) -> tuple[tuple[str, int], ...]:
    """Full names of what the module imports when it runs, and the lines; a module of ours that is
    named in a string is one: `import_module` may get it. `if TYPE_CHECKING:` does not count.
    """
    skipped = {
        id(inner)
        for node in nodes(name, ast.If)
        if ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    found: list[tuple[str, int]] = []
    for node in nodes(name, (ast.Import, ast.ImportFrom, ast.Constant)):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: write imports from `gate`"
            found += [(f"{node.module}.{alias.name}", node.lineno) for alias in node.names]
        elif name_in(node.value) in NAMES and name != "plugins":  # which names folders to walk
            found.append((node.value, node.lineno))
    return tuple(found)


def name_in(value: object) -> str:
    """The module of ours that a string names, without `gate.`; empty for anything else."""
    return value[5:] if isinstance(value, str) and value.startswith("gate.") else ""


def own_imports(name: str) -> dict[str, int]:
    """The modules of ours that it imports, without `gate.`, and the line of each."""
    found = {}
    for full, line in imported(name):
        other = full.removeprefix("gate.")
        if full.startswith("gate.") and other != "__version__":
            found[other if other in NAMES else other.rpartition(".")[0]] = line
    return {other: line for other, line in found.items() if other and other != name}


def package_of(name: str) -> str:
    return name.partition(".")[0]


def under(name: str, places: tuple[str, ...]) -> bool:
    return any(name == place or name.startswith(place + ".") for place in places)


def shown(faults: list[str]) -> str:
    return "\n" + "\n".join(faults)


def in_package() -> pytest.MarkDecorator:
    """One test a package, and one for the modules that lie beside them."""
    return pytest.mark.parametrize("package", [*PACKAGES, "gate"])


def modules_of(package: str) -> list[str]:
    if package == "gate":
        return [name for name in NAMES if name not in PACKAGES and "." not in name]
    return [name for name in NAMES if package_of(name) == package]


def places(name: str) -> str:
    lines = [f"  {package}: {PURPOSES[package]}" for package in PURPOSES if package in PACKAGES]
    return f"gate/{name} is no package of the house. Put the module into one of\n" + "\n".join(
        lines
    )


def test_every_module_lies_in_a_package_of_the_house() -> None:
    for name in NAMES:
        assert package_of(name) in FLOOR, places(package_of(name))
    missing = set(FLOOR) - {package_of(name) for name in NAMES}
    assert not missing, f"HOUSE names what is not there: {missing}"


@in_package()
def test_imports_point_down(package: str) -> None:
    faults = []
    for name in modules_of(package):
        here = package_of(name)
        for other, line in own_imports(name).items():
            there = package_of(other)
            if there != here and FLOOR[there] >= FLOOR[here]:
                faults.append(
                    f"gate/{name.replace('.', '/')}.py:{line} imports {other}, but {there}/ is not"
                    f" below {here}/: hand it in from above, or move what both need into a package"
                    f" below both ({here}/ is for: {PURPOSES[here]})"
                )
    assert not faults, shown(faults)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_cycle_inside_a_package(package: str) -> None:
    """Neither between modules nor between the folders of a package."""
    inner = {
        name: {other for other in own_imports(name) if package_of(other) == package}
        for name in modules_of(package)
    }
    folders: dict[str, set[str]] = {}
    for name, others in inner.items():
        here = folder_of(name)
        folders.setdefault(here, set()).update(
            there for there in map(folder_of, others) if there != here
        )
    for graph in (inner, folders):
        try:
            list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            pytest.fail(f"{package}: a cycle: {' <- '.join(error.args[1])}")


def folder_of(name: str) -> str:
    """The folder below the package that it lies in, and the module itself where it lies in none."""
    return ".".join(name.split(".")[:2])


@in_package()
def test_each_effect_has_its_place(package: str) -> None:
    faults = [fault for name in modules_of(package) for fault in effects(name)]
    assert not faults, shown(faults)


def effects(name: str) -> Iterator[str]:
    pure = under(name, PURE)
    for full, line in imported(name):
        for module, allowed in ONLY_IN.items():
            if under(full, (module,)) and not under(name, allowed):
                yield f"{name}:{line} imports {module}: only {', '.join(allowed)} may"
        if pure and full.partition(".")[0] in IMPURE:
            yield f"{name}:{line} imports {full}: take the value as an argument"
    uses = {ast.unparse(node) for node in nodes(name, ast.Attribute)}
    if name not in READ_ENVIRONMENT and uses & {"os.environ", "os.getenv"}:
        yield f"{name} reads the environment: it is handed in"
    if pure and uses & {"datetime.now", "datetime.utcnow", "date.today"}:
        yield f"{name} reads the clock: it is handed in"
    if name != "cli" and "sys.exit" in uses:
        yield f"{name} ends the process: raise an error of gate/errors.py"
    if not under(name, PRINTS):
        for call in nodes(name, ast.Call):
            if ast.unparse(call.func) == "print":
                yield f"{name}:{call.lineno} prints: return the text"


@in_package()
def test_modules_and_functions_say_what_they_are_for(package: str) -> None:
    faults = [fault for name in modules_of(package) for fault in oddities(name)]
    assert not faults, shown(faults)


def oddities(name: str) -> Iterator[str]:
    if not ast.get_docstring(tree_of(NAMES[name])):
        yield f"{name}: the first line says what the module is for"
    if VAGUE & set(name.split(".")):
        yield f"{name} could hold anything"
    for node in nodes(name, (ast.FunctionDef, ast.AsyncFunctionDef)):
        given = [arg for arg in node.args.posonlyargs + node.args.args if arg.arg != "self"]
        if len(given) > MOST_ARGUMENTS:
            yield f"{name}.{node.name} has {len(given)} positional arguments"
        for other, line in late_imports(node):
            if other not in LATE.get(f"gate.{name}", ()):
                yield f"{name}:{line} hides an import of {other}: LATE of cost_bounds.py lists them"


def late_imports(function: ast.AST) -> Iterator[tuple[str, int]]:
    """The modules that it imports, and the lines."""
    for node in ast.walk(function):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                whole = full.removeprefix("gate.") in NAMES
                yield full if whole else str(node.module), node.lineno
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)


def test_late_imports_are_those_that_are_listed() -> None:
    """Whoever has none any more leaves the list."""
    found = {
        (f"gate.{name}", other)
        for name in NAMES
        for node in nodes(name, (ast.FunctionDef, ast.AsyncFunctionDef))
        for other, _ in late_imports(node)
    }
    listed = {(name, other) for name, others in LATE.items() for other in others}
    assert found == listed


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_its_purpose(package: str) -> None:
    """Names are imported from the module that defines them, so that nothing else is loaded."""
    for name in modules_of(package):
        path = NAMES[name]
        if path.name == "__init__.py" and name not in FACADES:
            statements = tree_of(path).body
            assert len(statements) == 1, f"{name}: an __init__ is a docstring and nothing else"
    said = " ".join((ast.get_docstring(tree_of(NAMES[package])) or "").split())
    assert said.startswith(PURPOSES[package]), f"gate/{package}/__init__.py says {said!r}"


@in_package()
def test_records_and_plugins_are_frozen(package: str) -> None:
    wanted = "dataclass(frozen=True, slots=True, kw_only=True)"
    for name in modules_of(package):
        for node in nodes(name, ast.ClassDef):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            registered = any(".register(" in decorator for decorator in decorators)
            if registered or (package == "records" and decorators):
                assert wanted in decorators, f"{name}.{node.name} is not {wanted}"


def registries() -> list[Registry[object]]:
    return [value for value in vars(plugins).values() if isinstance(value, Registry)]


@pytest.mark.parametrize("registry", registries(), ids=lambda registry: registry.kind)
def test_every_plugin_says_what_it_does(registry: Registry[object]) -> None:
    classes = [registry.get_class(name) for name in registry]
    undocumented = [c.__name__ for c in classes if "__doc__" not in vars(c) or not c.__doc__]
    generated = [c.__name__ for c in classes if (c.__doc__ or "").startswith(f"{c.__name__}(")]
    assert not undocumented + generated
    assert importlib.import_module(registry.package).__doc__


@pytest.mark.parametrize("registry", registries(), ids=lambda registry: registry.kind)
def test_plugins_lie_alone(registry: Registry[object]) -> None:
    """Every file of the folder is imported to know the names: no other module may lie there."""
    folder = registry.package.removeprefix("gate.")
    registered = {registry.get_class(name).__module__ for name in registry}
    beside = {
        name
        for name, path in NAMES.items()
        if name.rpartition(".")[0] == folder and path.name != "__init__.py"
    }
    assert beside <= {module.removeprefix("gate.") for module in registered}


def test_the_command_line_imports_nothing_heavy() -> None:
    heavy = "numpy requests yaml jsonschema jinja2 rich"
    code = f"import sys, gate.cli; print(*set('{heavy}'.split()) & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


def test_no_test_patches_our_own_modules() -> None:
    banned = ("mock." + "patch", "monkeypatch." + "setattr", "mocker." + "patch")
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not [word for word in banned if word in text], f"{path}: pass a parameter instead"


def test_names_of_test_files_are_unique() -> None:
    names = sorted(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [a for a, b in pairwise(names) if a == b]


def imported_tests(tree: ast.Module) -> Iterator[str]:
    """Modules `test_...` that are imported: by a statement, by name, or by code in a string."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            names = [source, *(f"{source}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            if ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__"):
                names = [str(node.args[0].value)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = re.findall(r"^\s*(?:from|import)\s+([\w.]+)", node.value, re.MULTILINE)
        ours = (name for name in names if re.match(r"\.|tests\.|test_", name))
        yield from (name for name in ours if name.rpartition(".")[2].startswith("test_"))


# Most files name no test file on a line with an import: they are not parsed.
SUSPECT = re.compile(r"(?:import|from)\b.*test_|import\w*\(.*test_")


def test_no_test_imports_from_a_test_file() -> None:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path == Path(__file__) or not SUSPECT.search(path.read_text(encoding="utf-8")):
            continue
        found = list(imported_tests(tree_of(path)))
        assert not found, f"{path} imports {found}: what tests share lies in tests/support/"


@pytest.mark.parametrize(
    "code",
    [
        "from tests.unit.test_x import run",
        "from test_x import run",
        "import tests.unit.test_x as x",
        "from tests.unit import test_x",
        "from . import test_x",
        "from .test_x import run",
        "def late():\n    from ..unit.test_x import run",
        "importlib.import_module('tests.unit.test_x')",
        "import_module('.test_x', __package__)",
        "__import__('test_x')",
        "SCRIPT = 'import sys\\nfrom test_x import run'",
    ],
)
def test_an_import_from_a_test_file_would_be_seen(code: str) -> None:
    assert SUSPECT.search(code)
    assert list(imported_tests(ast.parse(code)))


def test_what_tests_share_lies_in_one_package() -> None:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path.parent == ROOT / "tests" / "support":
            assert ast.get_docstring(tree_of(path)), f"{path} says what it is for"
            assert path.stem not in VAGUE, f"{path} could hold anything"
        else:
            kept = path.name.startswith("test_") or path.name in ("conftest.py", "__init__.py")
            assert kept, f"{path}: what tests share lies in tests/support/"


def test_unit_tests_mirror_the_packages() -> None:
    """A test lies where its module lies: tests/unit/store/ for gate/store/."""
    unit = ROOT / "tests" / "unit"
    for path in sorted(unit.rglob("test_*.py")):
        inside = path.relative_to(unit).parent
        place = GATE / inside
        assert (place / "__init__.py").is_file(), f"{path}: gate/{inside} is no package"
        if place == GATE:
            module = place / path.name.removeprefix("test_")
            assert module.is_file(), f"{path}: put it into the folder of the package that it tests"


def test_parsed_arguments_end_in_the_commands() -> None:
    """Below them the flow takes frozen records, which say what there is."""
    below = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "gate").rglob("*.py"))
        if path.relative_to(ROOT).parts[1] not in ("commands", "cli.py")
        and "argparse" in path.read_text("utf-8")
    ]
    assert below == [], "take RunOptions, ImportOptions or OutputOptions (gate/run/options.py)"


MOST_ANY = 13  # functions that name Any in their signature; fewer is better
ALIASES_OF_ANY = {"CheckedJson", "Json", "Array"}  # the last two only when the program runs


def takes_any(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id == "Any")
        or (isinstance(node, ast.Constant) and re.search(r"\bAny\b", str(node.value)))
        for part in (function.args, function.returns)
        if part is not None
        for node in ast.walk(part)
    )


def test_few_signatures_say_any_and_each_has_its_reason() -> None:
    """JSON that was checked is CheckedJson (docs/decisions/0031), a user's object is `object`."""
    found, silent, aliases = 0, [], set()
    for path in FILES:
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Assign):
                if isinstance(node.value, ast.Name) and node.value.id == "Any":
                    aliases |= {ast.unparse(target) for target in node.targets}
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and takes_any(node):
                found += 1
                signature = lines[node.lineno - 1 : node.body[0].lineno - 1]
                if not any("# " in line for line in signature):
                    silent.append(f"{path}:{node.lineno}: {node.name} does not say why")
    assert not silent, shown(silent)
    assert aliases <= ALIASES_OF_ANY, aliases - ALIASES_OF_ANY
    assert found <= MOST_ANY, f"{found} signatures with Any; {MOST_ANY} are allowed"


@pytest.mark.parametrize(
    "signature", ["(x: Any)", "(*, x: 'list[Any]')", "() -> dict[str, Any]", "(**more: Any)"]
)
def test_an_any_would_be_seen(signature: str) -> None:
    (function,) = ast.parse(f"def f{signature}: ...").body
    assert isinstance(function, ast.FunctionDef)
    assert takes_any(function)
