import compileall
import subprocess
import sys
from dataclasses import dataclass
from zipfile import ZipFile

import pytest

from gate import plugins
from gate.errors import UsageError
from gate.plugins import build
from gate.records import PluginSpec
from gate.registry import BackgroundImport, Registry
from gate.text.suggestions import did_you_mean

REGISTRIES = [value for value in vars(plugins).values() if isinstance(value, Registry)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    size: int = 1


def registry():
    things = Registry("thing", "gate.importers")
    things.register("small")(Thing)
    return things


def test_a_plug_in_is_found_by_its_name_and_made_with_its_options(tmp_path):
    spec = PluginSpec(name="small", options={"size": 3})
    assert build(registry(), spec, tmp_path) == Thing(size=3)


def test_an_unknown_name_is_answered_with_the_nearest_one():
    with pytest.raises(UsageError, match="unknown thing 'smal' - did you mean 'small'"):
        registry().get_class("smal")


def test_two_plug_ins_of_one_name_are_our_bug():
    with pytest.raises(ValueError, match="two things"):
        registry().register("small")(Thing)


def test_suggestions():
    assert did_you_mean("graders", ["grader", "gates"]) == " - did you mean 'grader'?"
    assert did_you_mean("zzz", ["a", "b"]) == " - known: a, b"
    assert did_you_mean("zzz", [str(n) for n in range(50)]) == ""


@pytest.mark.parametrize("begun", [True, False])
def test_a_module_is_there_whether_or_not_its_import_was_begun(begun):
    soon = BackgroundImport("gate.suites.cases.sampling")
    if begun:
        soon.start()
        soon.start()
    assert soon.load().choose({"a": None}, "s", 1) == {"a"}


@pytest.mark.parametrize("form", ["sources", "compiled", "zip"])
def test_plug_ins_are_found_in_whatever_form_the_gate_is_installed(form, tmp_path, monkeypatch):
    package = f"installed_as_{form}"
    folder = tmp_path / package
    (folder / "rules").mkdir(parents=True)
    for name in ("__init__.py", "two_words.py", "notes.txt", "rules/__init__.py"):
        (folder / name).write_text("")
    if form == "compiled":
        compileall.compile_dir(folder, legacy=True, quiet=1)
    if form == "zip":
        with ZipFile(tmp_path / "all.zip", "w") as file:
            for path in folder.rglob("*.py"):
                file.write(path, path.relative_to(tmp_path))
    if form != "sources":
        for path in folder.rglob("*.py"):
            path.unlink()
    monkeypatch.syspath_prepend(tmp_path / "all.zip" if form == "zip" else tmp_path)
    assert Registry("thing", package, between="-").names() == ("two-words",)


def test_names_are_known_without_an_import():
    code = (
        "import sys; from gate.plugins import GRADERS as known"
        "; print('facts' in known, len(known.names()))"
        "; print([name for name in sys.modules if name.startswith('gate.graders.')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True 24\n[]\n"


@pytest.mark.parametrize("kind", REGISTRIES, ids=lambda kind: kind.kind)
def test_a_plug_in_stands_in_the_module_of_its_name(kind):
    """Alone, too: no other module of the package registers it, and no module registers none."""
    kind.load()
    for name in kind.names():
        module = kind.get_class(name).__module__
        assert module.rpartition(".")[2].replace("_", "-") == name.replace("_", "-")
