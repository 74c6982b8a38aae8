from dataclasses import dataclass

import pytest

from gate.errors import UsageError
from gate.plugins import build
from gate.records import PluginSpec
from gate.registry import Meanwhile, Registry
from gate.text.suggestions import did_you_mean


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
        registry().registered("smal")


def test_two_plug_ins_of_one_name_are_our_bug():
    with pytest.raises(ValueError, match="two things"):
        registry().register("small")(Thing)


def test_suggestions():
    assert did_you_mean("graders", ["grader", "gates"]) == " - did you mean 'grader'?"
    assert did_you_mean("zzz", ["a", "b"]) == " - known: a, b"
    assert did_you_mean("zzz", [str(n) for n in range(50)]) == ""


@pytest.mark.parametrize("begun", [True, False])
def test_a_module_is_there_whether_or_not_its_import_was_begun(begun):
    soon = Meanwhile("gate.suites.cases.sampling")
    if begun:
        soon.start()
        soon.start()
    assert soon.loaded().choose({"a": None}, "s", 1) == {"a"}
