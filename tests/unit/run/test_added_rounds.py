"""`--resume SESSION --rounds N` of a session that came to a verdict."""

from dataclasses import replace

import pytest

from gate.errors import UsageError
from gate.records import Config, Looks, PluginSpec, Provenance, RegressionRules, Suite
from gate.records.verdict import MOST_LOOKS
from gate.run.added_rounds import add_rounds, read_begun_rounds, set_rounds
from gate.run.prepare import SuitePlan
from gate.stats.boundaries import boundaries, nominal
from gate.store.session import Meta, SessionWriter, read_meta

IDS = frozenset(f"c{n}" for n in range(10))
RULES = RegressionRules(max_rounds=8)


def plan(name="s", looks=None):
    return SuitePlan(
        suite=Suite(name=name, dataset="d", graders=(), rounds=2),
        graders={},
        dataset_digest="dd",
        digests=dict.fromkeys(IDS, ""),
        chosen=IDS,
        not_selected=0,
        specs={},
        grader_digests={},
        read=lambda ids: iter(()),
        looks=looks,
    )


def meta_of(*plans, **options):
    return Meta(
        session_id="20261120-120000-0123abcd",
        created_at="2026-11-20T12:00:00Z",
        provenance=Provenance(commit="c"),
        suites={one.suite.name: one.meta() for one in plans},
        options=options,
    )


@pytest.fixture
def session_of(tmp_path):
    """A judged session with so many trials of each suite."""
    opened = []

    def make(*plans, made):
        session = SessionWriter.create(tmp_path, meta_of(*plans), str)
        for one in plans:
            for n in range(made):
                row = {"suite": one.suite.name, "case_id": f"c{n % 10}", "round": n // 10 + 1}
                session.append({**row, "status": "completed"})
        session.log.append_verdict("pass")
        opened.append(session)
        return session

    yield make
    for session in opened:
        session.close()


def test_a_suite_that_had_one_look_gets_a_second_one(session_of):
    one = plan()
    session = session_of(one, made=20)
    (longer,), course = add_rounds(session, (one,), 5, RULES)
    assert longer.looks == Looks(calls=(20, 50))
    assert (course.trials("s"), course.until) == (range(20, 50), {"s": 2})
    stored = read_meta(session.folder)
    assert (stored.suites["s"].looks, stored.added) == (longer.looks, 5)
    assert session.log.outcome is None  # until there is a later verdict, it goes on from here


def test_the_later_of_two_verdicts_keeps_within_alpha():
    for first in (0.2, 0.5, 0.9):
        found = boundaries((first, 1.0), 0.01, 0.2)
        assert nominal(found.harm[-1]) < 0.01


@pytest.mark.parametrize(
    ("calls", "made", "rounds", "trials", "until"),
    [
        ((12, 24, 36, 48, 60), 12, 3, range(12, 24), 3),  # 36 is the first look with 3 rounds
        ((12, 24, 36, 48, 60), 15, 6, range(12, 24), 5),  # cut off by a budget between two looks
        ((12, 24), 24, 4, range(24, 40), 3),  # its cap was lower than the rules allow
        (tuple(range(1, 21)), 20, 4, range(20, 40), 20),  # has all looks that there may be
    ],
)
def test_a_suite_with_looks_goes_on_along_its_plan(session_of, calls, made, rounds, trials, until):
    one = plan(looks=Looks(calls=calls))
    (longer,), course = add_rounds(session_of(one, made=made), (one,), rounds, RULES)
    assert (course.trials("s"), course.until) == (trials, {"s": until})
    assert len(longer.looks.calls) <= MOST_LOOKS


def test_a_suite_that_has_the_rounds_is_left_alone(session_of):
    one, two = plan(), plan("t", Looks(calls=(20, 50)))
    session = session_of(one, two, made=20)
    for n in range(30):
        row = {"suite": "t", "case_id": f"c{n % 10}", "round": 3 + n // 10}
        session.append({**row, "status": "completed"})
    plans, course = add_rounds(session, (one, two), 5, RULES)
    assert (course.going, plans[1].looks) == ({"s"}, two.looks)


def test_rounds_that_are_there_and_rounds_beyond_the_rules_are_refused(session_of):
    one = plan()
    session = session_of(one, made=20)
    with pytest.raises(UsageError, match=r"--rounds 2: .* has 2 rounds per case; give a larger"):
        add_rounds(session, (one,), 2, RULES)
    with pytest.raises(UsageError, match=r"--rounds 9: .*max_rounds: 8; give at most 8"):
        add_rounds(session, (one,), 9, RULES)
    assert session.log.outcome == "pass"  # nothing was touched
    assert read_meta(session.folder).added is None


def test_only_another_number_than_the_session_began_with_asks_for_rounds(tmp_path):
    with SessionWriter.create(tmp_path, meta_of(plan(), rounds=2), str) as session:
        folder = str(session.folder)
    assert read_begun_rounds(folder, 2) == {}
    assert read_begun_rounds(folder, 5) == {"s": 2}
    assert read_begun_rounds(None, 5) == read_begun_rounds(folder, None) == {}
    assert read_begun_rounds(str(tmp_path / "none"), 5) == {}


def test_no_rounds_are_added_to_a_run_of_single_cases(tmp_path):
    with SessionWriter.create(tmp_path, meta_of(plan(), case=["c1"]), str) as session:
        assert read_begun_rounds(str(session.folder), 5) == {}


def test_the_suites_keep_the_rounds_that_they_began_with():
    one = Suite(name="s", dataset="d", graders=(), rounds=5)
    config = Config(agent=PluginSpec(name="sample"), suites=(one, replace(one, name="t")))
    assert [suite.rounds for suite in set_rounds(config, {"s": 2}).suites] == [2, 5]
    assert set_rounds(config, {}) is config
