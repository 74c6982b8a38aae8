"""The house rules that a machine can check: who imports whom, what is used where, how long it is.

A new module fails here until it has its place in LAYERS; a module imports only from layers below
its own. Modules of one package stand side by side and do not import each other, but for INTERNAL.
"""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from gate import plugins
from gate.registry import Registry

ROOT = Path(__file__).parent.parent
GATE = ROOT / "gate"

LAYERS: tuple[str, ...] = (  # lowest first; a package counts whole, but for modules named here
    "errors text separators spellings filelock spreadsheet outlet process_group",
    "records plain_file shortage",
    "failures secret_forms violation_log evidence_tally default_gates spread outage",
    "imported first_look metric_names registry codec encoding redact stats stop sampling tally"
    " columns protect bundled"
    " shared_file shared_rows replies once mismatch course option_parser"
    " option_types"
    " hosting fencing traces task_folder turns sealing",
    "user_code",
    "safety",
    "credentials",
    "fits",
    "schema dataset_source option_reading event_log secret_names",
    "schema_errors table yamlfile dataset_json rows flat_rows row_schema numbers mentions matching"
    " progress wording templates page screen rubrics prose syllables embedding ranked",
    "calls webarena",
    "plugins session_form evidence_form foreign claims trajectory",
    "user_code.grader_role user_code.user_grader user_code.graders",
    "validators dataset_legacy",
    "subject http executors archive baseline_schema git sample pricing case_keys recording"
    " progress_bar child_process serverlogs",
    "wire dataset_rows baseline_file publish recorder",
    "run_file",
    "baseline_pool labels run_record sources",
    "user_code.suite_role",
    "analysis runner grading dataset agents graders metrics baselines importers reporters"
    " exporters",
    "verdict batches arms kept_answers config_records config_schema config_variables config_lint"
    " config_options announce retrievers",
    "config_suites suite_code",
    "config_judge config_check config_evidence control outlook rehearsal schemas",
    "config planning recorded loosening",
    "rules calibration asking",
    "digests workflow_file",
    "prepare",
    "lookup agreeing pipeline github joining baseline_listing regrading import_format import_files",
    "stored measured stopping saving untrusted review history",
    "explaining past_runs step_diffs rerun",
    "conclude",
    "accepting evidence_verdict rules_for",
    "set_up evidence_check curation baseline_desk",
    "evidence places",
    "judging resuming import_place",
    "beside import_plan",
    "execute options",
    "merging delivery importing",
    "commands",
    "cli",
    "__main__",
)
# One subject in several files, which may import each other without a cycle.
INTERNAL = {
    "review",
    *("records", "stats", "http", "wire", "github", "sample"),
    *("rubrics", "wording", "analysis", "verdict", "loosening", "asking", "curation"),
    "user_code",
    *("numbers", "claims", "failures", "history", "trajectory", "safety", "traces", "calls"),
    "serverlogs",
    "validators",
    "sources",
    "webarena",
}

ONLY_IN = {  # third-party or delicate module -> where it may be imported
    "requests": ("http", "github.api", "github.trying", "github.upload"),
    "urllib3": ("http", "github.api"),
    "http.client": ("http",),
    "urllib.request": ("http",),
    "yaml": ("yamlfile",),
    "jsonschema": ("schema_errors",),
    "numpy": ("table", "stats", "metrics", "analysis", "verdict"),
    "jinja2": ("page", "reporters", "review"),
    "rich": ("screen", "reporters", "commands", "progress_bar"),
}
PURE = ("errors", "records", "codec", "stats", "table", "analysis", "verdict", "graders", "metrics")
IMPURE = {"time", "random", "secrets", "uuid", "socket", "subprocess"}
VAGUE = {"utils", "util", "helpers", "manager", "base", "common", "misc"}

FILES = sorted(GATE.rglob("*.py"))
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names.split()}


def name_of(path: Path) -> str:
    """`github.api` for gate/github/api.py, `github` for gate/github/__init__.py."""
    return ".".join(path.relative_to(GATE).with_suffix("").parts).removesuffix(".__init__")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """Full names of what the module imports when it runs; `if TYPE_CHECKING:` does not count."""
    skipped = {
        id(inner)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree_of(path)):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write imports from `gate`"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(path: Path) -> set[str]:
    """Names of the modules of ours that it imports, without `gate.`."""
    known = {name_of(file) for file in FILES}
    found = set()
    for full in imported(path):
        name = full.removeprefix("gate.")
        if full.startswith("gate.") and name != "__version__":
            found.add(name if name in known else name.rpartition(".")[0])
    return found - {"", name_of(path)}


def family_of(name: str) -> str:
    return name.partition(".")[0]


def rank_of(name: str) -> int:
    family = name if name in RANK else family_of(name)
    assert family in RANK, (
        f"gate/{family} is in no layer: add it to LAYERS in {Path(__file__).name}"
    )
    return RANK[family]


def under(name: str, places: tuple[str, ...]) -> bool:
    return any(name == place or name.startswith(place + ".") for place in places)


def modules() -> pytest.MarkDecorator:
    inner = [path for path in FILES if path.parent != GATE or path.name != "__init__.py"]
    return pytest.mark.parametrize("path", inner, ids=name_of)


@modules()
def test_imports_point_down(path: Path) -> None:
    name = name_of(path)
    rank_of(name)
    for other in own_imports(path):
        if family_of(other) == family_of(name) and family_of(name) in INTERNAL:
            continue
        assert rank_of(other) < rank_of(name), f"{name} imports {other}, which is not below it"


@pytest.mark.parametrize("package", sorted(INTERNAL))
def test_no_cycle_inside_a_package(package: str) -> None:
    graph = {
        name_of(path): {other for other in own_imports(path) if other.startswith(package)}
        for path in FILES
        if family_of(name_of(path)) == package
    }
    assert list(TopologicalSorter(graph).static_order())


@modules()
def test_each_effect_has_its_place(path: Path) -> None:
    name = name_of(path)
    for full in imported(path):
        for package, places in ONLY_IN.items():
            if under(full, (package,)):
                assert under(name, places), f"{name} imports {package}: only {places} may"
        if under(name, PURE):
            top = full.partition(".")[0]
            assert top not in IMPURE, f"{name} imports {top}: take the value as an argument"
    uses = {
        ast.unparse(node) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)
    }
    if name != "cli":
        assert not uses & {"os.environ", "os.getenv"}, f"{name} reads the environment"
    if under(name, PURE):
        assert not uses & {"datetime.now", "datetime.utcnow", "date.today"}, (
            f"{name} reads the clock"
        )
    calls = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    if not under(name, ("commands", "cli", "reporters.console")):
        assert not [call for call in calls if ast.unparse(call.func) == "print"], f"{name} prints"
    if name != "cli":
        assert "sys.exit" not in uses, f"{name} ends the process"


@modules()
def test_modules_and_functions_are_short_and_say_what_they_are_for(path: Path) -> None:
    name, tree = name_of(path), tree_of(path)
    assert ast.get_docstring(tree), f"{name}: the first line says what the module is for"
    assert path.read_text(encoding="utf-8").count("\n") <= 500, f"{name} is too long"
    assert not VAGUE & set(name.split(".")), f"{name} could hold anything"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 60, f"{name}.{node.name} has {length} lines"
            positional = [
                arg for arg in node.args.posonlyargs + node.args.args if arg.arg != "self"
            ]
            assert len(positional) <= 6, f"{name}.{node.name} has {len(positional)} positionals"
            hidden = [n for n in ast.walk(node) if isinstance(n, (ast.Import, ast.ImportFrom))]
            assert not hidden, f"{name}.{node.name} hides an import"


@modules()
def test_records_and_plugins_are_frozen(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ClassDef):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            registered = any(".register(" in decorator for decorator in decorators)
            if registered or (under(name_of(path), ("records",)) and decorators):
                wanted = "dataclass(frozen=True, slots=True, kw_only=True)"
                assert wanted in decorators, f"{name_of(path)}.{node.name} is not {wanted}"


def registries() -> list[Registry[object]]:
    return [value for value in vars(plugins).values() if isinstance(value, Registry)]


@pytest.mark.parametrize("registry", registries(), ids=lambda registry: registry.kind)
def test_every_plugin_says_what_it_does(registry: Registry[object]) -> None:
    classes = [registry.registered(name) for name in registry]
    undocumented = [c.__name__ for c in classes if "__doc__" not in vars(c) or not c.__doc__]
    generated = [c.__name__ for c in classes if (c.__doc__ or "").startswith(f"{c.__name__}(")]
    assert not undocumented + generated
    assert importlib.import_module(registry.package).__doc__


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
