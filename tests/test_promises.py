"""What the project promises of itself: few dependencies, three systems, nothing private inside."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from gate.text.sensitive import SECRETS, find_sensitive

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ONE_SYSTEM = {  # modules that not every system has
    *("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "posix", "syslog"),
    *("msvcrt", "winreg", "winsound", "_winapi"),
}
# An address that answers inside a company only; examples on loopback and in documents are none.
INTERNAL = re.compile(
    r"https?://(?:10\.\d+|172\.(?:1[6-9]|2\d|3[01])|192\.168)\.\d+\.\d+|"
    r"https?://[\w.-]+\.(?:corp|intra|lan)\b"
)
COOKIE = re.compile(r"(?im)^\s*(?:set-)?cookie:\s*\w+=\w{16,}")
FENCED = ("tests",)  # made-up secrets stand there, for what finds them


def committed() -> list[Path]:
    """Every file of the commit and of the working copy that git would take."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, check=False)
    if found.returncode:
        pytest.skip("not a clone: git does not list the files")
    return [ROOT / name for name in found.stdout.decode().split("\0") if name]


def texts() -> Iterator[tuple[str, str]]:
    for path in committed():
        name = path.relative_to(ROOT)
        if path.is_file() and name.parts[0] not in FENCED:
            try:
                yield str(name), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def test_the_dependencies_are_seven_and_each_has_its_reason() -> None:
    names = {re.match(r"[\w.-]+", one)[0] for one in PROJECT["dependencies"]}
    assert names == {"requests", "PyYAML", "numpy", "jsonschema", "jinja2", "rich", "orjson"}
    page = (ROOT / "docs" / "decisions" / "0003-dependencies.md").read_text(encoding="utf-8")
    assert [name for name in sorted(names) if not re.search(rf"\| {name} \d", page)] == []


def test_the_oldest_python_is_the_one_that_is_tested_and_explained() -> None:
    oldest = PROJECT["requires-python"].removeprefix(">=")
    check = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text(encoding="utf-8"))
    assert check["jobs"]["tests"]["strategy"]["matrix"]["python"][0] == oldest
    page = (ROOT / "docs" / "decisions" / "0001-python-versions.md").read_text(encoding="utf-8")
    assert oldest in page


def test_three_systems_run_the_tests() -> None:
    check = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text(encoding="utf-8"))
    systems = check["jobs"]["tests"]["strategy"]["matrix"]["os"]
    assert {name.partition("-")[0] for name in systems} == {"ubuntu", "windows", "macos"}


def test_modules_of_one_system_are_imported_on_that_system_alone() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "gate").rglob("*.py")}
    wrong = [
        f"{path.name}:{node.lineno}"
        for path, text in sorted(texts.items())
        if any(name in text for name in ONE_SYSTEM)  # most files have none: they are not parsed
        for node in unguarded(ast.parse(text))
    ]
    assert wrong == []


def unguarded(tree: ast.Module) -> Iterator[ast.stmt]:
    """Imports of such modules outside of `if sys.platform ...`."""
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "sys.platform" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if ONE_SYSTEM & set(names) and id(node) not in guarded:
            yield node


def test_an_import_without_its_guard_would_be_seen() -> None:
    assert [node.lineno for node in unguarded(ast.parse("import os\nimport fcntl\n"))] == [2]
    assert not list(unguarded(ast.parse("if sys.platform != 'win32':\n    import fcntl\n")))


def test_no_key_cookie_or_internal_address_is_committed() -> None:
    found = [
        f"{name}: {one}"
        for name, text in texts()
        for one in (
            *(hit.value for hit in find_sensitive(text, SECRETS)),
            *INTERNAL.findall(text),
            *COOKIE.findall(text),
        )
    ]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    [
        "key: " + "sk-" + "proj-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z",
        "http://192.168" + ".4.7/wiki",
        "Set-Cookie: session=" + "0123456789abcdef",
    ],
)
def test_what_must_not_be_committed_would_be_seen(planted: str) -> None:
    seen = [*find_sensitive(planted, SECRETS), *INTERNAL.findall(planted), *COOKIE.findall(planted)]
    assert seen
