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
        ("./broken.py:X", "does not load: ZeroDivisionError"),
        ("no_such_module_here:X", "cannot import"),
    ],
)
def test_what_cannot_be_loaded_says_why(tmp_path, spec, message):
    (tmp_path / "mine.py").write_text("X = 1\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(UsageError, match=message):
        load_object(spec, tmp_path)


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
