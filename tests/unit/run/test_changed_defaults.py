"""Which changed defaults a run tells, and which it leaves to a later one."""

from types import SimpleNamespace

import pytest

from gate.agents.protocols.python import PythonAgent
from gate.agents.protocols.sample import Sample
from gate.plugins import World
from gate.run.changed_defaults import CHANGED, ChangedDefault, tell_changed_defaults


def change(name, since, concerned=True):
    return ChangedDefault(
        name=name, since=since, sentence=f"{name} is otherwise", concerns=lambda setup: concerned
    )


TABLE = (change("old", "0.2.0"), change("new", "0.10.0"), change("far", "0.10.0", concerned=False))


def told(versions, untold=()):
    return tell_changed_defaults(None, versions, untold, TABLE)


def test_what_changed_since_the_older_version_is_told_and_the_rest_is_left_for_later():
    new = "since version 0.10.0 new is otherwise"
    assert told(["0.1.0"]) == (("since version 0.2.0 old is otherwise", new), ("far",))
    assert told(["0.2.0"]) == ((new,), ("far",))
    assert told(["0.9.7"]) == ((new,), ("far",))
    assert told(["0.10.0"]) == ((), ())


def test_of_several_baselines_the_oldest_counts():
    assert told(["0.10.0", "0.2.0"])[0] == ("since version 0.10.0 new is otherwise",)


def test_what_an_earlier_run_left_is_told_by_the_run_that_it_concerns():
    assert told(["0.10.0"], ["old"]) == (("since version 0.2.0 old is otherwise",), ())
    assert told(["0.10.0"], ["far"]) == ((), ("far",))
    assert told(["0.10.0"], ["never heard of"]) == ((), ())


def test_a_version_that_is_none_of_ours_says_nothing():
    for version in ("", "promptfoo 0.123.1", "1", "x0.1.0"):
        assert told([version]) == ((), ())
    assert told(["promptfoo 0.1.0", "0.2.0"])[1] == ("far",)


def test_each_change_has_a_name_of_its_own():
    assert len({one.name for one in CHANGED}) == len(CHANGED)


AGENTS = """
def case(case): return "a"
def query(query): return "a"
def typed(case: str): return "a"
def mapping(question: dict): return "a"
"""


@pytest.mark.parametrize(
    ("name", "concerned"),
    [
        *(("case", False), ("query", True), ("typed", True), ("mapping", False)),
        ("nobody", False),  # what is wrong with it is told where it is checked
    ],
)
def test_who_gets_the_question_now_is_told_and_others_are_not(tmp_path, name, concerned):
    (tmp_path / "a.py").write_text(AGENTS)
    (change,) = (one for one in CHANGED if one.name == "the-question-for-who-takes-a-text")
    place = SimpleNamespace(world=World(env={}, root=tmp_path))
    setup = SimpleNamespace(agent=PythonAgent(callable=f"./a.py:{name}"), place=place)
    assert change.concerns(setup) is concerned
    assert change.concerns(SimpleNamespace(agent=Sample())) is False
