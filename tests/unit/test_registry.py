import py_compile
from dataclasses import dataclass

import pytest

from gate.errors import UsageError
from gate.plugins import build
from gate.records import PluginSpec
from gate.registry import Meanwhile, Registry, did_you_mean, load_object


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


def test_an_unknown_name_is_answered_with_the_nearest_one(tmp_path):
    with pytest.raises(UsageError, match="unknown thing 'smal' - did you mean 'small'"):
        registry().find("smal", tmp_path)


def test_two_plug_ins_of_one_name_are_our_bug():
    with pytest.raises(ValueError, match="two things"):
        registry().register("small")(Thing)


def test_a_users_own_file_is_loaded_once(tmp_path):
    (tmp_path / "mine.py").write_text("class Own:\n    pass\n")
    assert load_object("./mine.py:Own", tmp_path) is load_object("mine.py:Own", tmp_path)


def test_a_users_own_module_is_found_beside_the_config(tmp_path):
    (tmp_path / "gate_test_own_module.py").write_text("value = 7\n")
    assert load_object("gate_test_own_module:value", tmp_path) == 7


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("./no.py:X", "there is no file"),
        ("./mine.py:Y", "has no 'Y'"),
        ("./broken.py:X", "does not load: ZeroDivisionError: division by zero$"),
        ("./lonely.py:X", "named 'gate_test_beside' - name it as module:attribute"),
        ("no_such_module_here:X", "cannot import"),
    ],
)
def test_what_cannot_be_loaded_says_why(tmp_path, spec, message):
    (tmp_path / "mine.py").write_text("X = 1\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "lonely.py").write_text("import gate_test_beside\n")
    with pytest.raises(UsageError, match=message):
        load_object(spec, tmp_path)


@pytest.mark.parametrize("spec", ["./own_a.py:f", "own_b:f", "own_c.inner:f", "own_d:f"])
def test_a_compiled_file_beside_the_source_is_never_run(tmp_path, spec):
    """It can be committed, and marked as not to be compared with the source, which is hashed."""
    for name in ("own_a.py", "own_b.py", "own_c/inner.py", "own_d/__init__.py"):
        source = tmp_path / name
        source.parent.mkdir(exist_ok=True)
        source.write_text("def f():\n    return 'planted'\n")
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), invalidation_mode=unchecked)
        source.write_text("def f():\n    return 'as hashed'\n")
    assert load_object(spec, tmp_path)() == "as hashed"
    assert load_object(spec, tmp_path) is load_object(spec, tmp_path)


def test_a_module_of_a_package_is_known_to_it(tmp_path):
    (tmp_path / "own_e").mkdir()
    (tmp_path / "own_e" / "inner.py").write_text("value = 7\n")
    (tmp_path / "own_e" / "outer.py").write_text("import own_e.inner\nsame = own_e.inner\n")
    assert load_object("own_e.inner:value", tmp_path) == 7
    assert load_object("own_e.outer:same", tmp_path).value == 7


def test_suggestions():
    assert did_you_mean("graders", ["grader", "gates"]) == " - did you mean 'grader'?"
    assert did_you_mean("zzz", ["a", "b"]) == " - known: a, b"
    assert did_you_mean("zzz", [str(n) for n in range(50)]) == ""


@pytest.mark.parametrize("begun", [True, False])
def test_a_module_is_there_whether_or_not_its_import_was_begun(begun):
    soon = Meanwhile("gate.sampling")
    if begun:
        soon.start()
        soon.start()
    assert soon.loaded().choose({"a": None}, "s", 1) == {"a"}
