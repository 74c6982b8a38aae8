"""The line that ends a recording; a fork may have written it."""

import json

import pytest

from gate.agents.recordings.answers import Recording, recording_line
from gate.agents.recordings.run_end import (
    RunEnd,
    SuiteEnd,
    digest_of_cases,
    parse_run_end,
    run_end_line,
)
from gate.errors import InfraFailure, InvalidInput, RecordingEnded
from gate.records import Case, Looks, Response

ONE, TWO = (Case(id=name, input=name, keys={"id": name}) for name in ("c1", "c2"))
SUITE = SuiteEnd(cases=digest_of_cases(["c1", "c2"]), planned=4, made=1, looks=Looks(calls=(1, 4)))


def end(session="a", **suite):
    fields = {name: getattr(SUITE, name) for name in SuiteEnd.__slots__}
    return RunEnd(session=session, seed="x", suites={"s": SuiteEnd(**{**fields, **suite})})


@pytest.fixture
def recording(tmp_path):
    def write(*lines):
        path = tmp_path / "kept.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return Recording(path, "kept.jsonl")

    return write


def answer(case=ONE, number=1):
    return recording_line(case, number, Response(answer="x"), 1.0)


def test_what_was_written_is_read():
    line = run_end_line(end())
    assert parse_run_end(json.loads(line)) == end()
    assert line.splitlines() == [line]


def test_the_same_cases_and_rounds_fit_in_any_order():
    assert SUITE.fits(["c2", "c1"], 2)
    assert not SUITE.fits(["c2", "c1"], 3)
    assert not SUITE.fits(["c1", "c3"], 2)


def test_a_case_that_a_run_never_came_to_is_where_its_recording_ends(recording):
    found = recording(answer(), run_end_line(end()))
    assert found.end == end()
    assert found.take(ONE).round == 1
    with pytest.raises(RecordingEnded, match="not recorded: the run ended before"):
        found.take(TWO)


@pytest.mark.parametrize(
    ("lines", "noted"),
    [
        ((answer(),), False),  # cut off, or of another tool
        ((run_end_line(end()),), True),  # says more than the file has
        ((answer(), run_end_line(end()), answer(number=2)), True),  # cut off later
        ((answer(), run_end_line(end()), answer(), run_end_line(end("b"))), True),  # two runs
        (tuple([answer()] * 4 + [run_end_line(end(made=4))]), False),  # all trials were made
    ],
)
def test_no_case_is_spared_where_no_run_said_that_it_ended_before(recording, lines, noted):
    found = recording(*lines)
    assert bool(found.note) == noted
    with pytest.raises(InfraFailure, match="not recorded at all") as caught:
        found.take(TWO)
    assert not isinstance(caught.value, RecordingEnded)


def test_a_session_that_was_gone_on_with_ends_at_its_last_line(recording):
    later = end(made=2)
    assert recording(answer(), run_end_line(end()), answer(TWO), run_end_line(later)).end == later


def test_a_line_that_was_cut_off_is_left_out(recording, tmp_path):
    path = tmp_path / "kept.jsonl"
    path.write_text(f"{answer()}\n{run_end_line(end())[:40]}", "utf-8")
    assert Recording(path, "kept.jsonl").end is None


def altered(**changes):
    suite = {**json.loads(run_end_line(end()))["ended"]["suites"]["s"], **changes}
    return {"ended": {"session": "a", "seed": "x", "suites": {"s": suite}}}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"ended": None}, "ended: "),
        ({"ended": {}}, "'session' is missing"),
        ({"ended": {"session": "a", "seed": "x" * 201, "suites": {}}}, "at most 200 characters"),
        ({"ended": {"session": "a", "seed": 5, "suites": {}}}, "ended.seed: 5"),
        ({**altered(), "case_id": "c1"}, "must be the only key"),
        (altered(looks={"calls": [4, 1]}), "ascending"),
        (altered(looks={"calls": list(range(1, 100))}), "ascending"),
        (altered(looks={"calls": [1, "4"]}), "ended.suites.s.looks"),
        (altered(looks={"calls": [True, 4]}), "ended.suites.s.looks"),
        (altered(looks={"calls": [1, 10**30]}), "impossible numbers"),
        (altered(made=-1), "impossible numbers"),
        (altered(made=5), "impossible numbers"),
        (altered(planned=10**30, looks=None), "impossible numbers"),
        (altered(surprise=1), "unknown key"),
    ],
)
def test_a_line_that_no_run_writes_is_refused_with_its_place(recording, line, said):
    with pytest.raises(InvalidInput) as caught:
        recording(answer(), json.dumps(line))
    assert str(caught.value).startswith("kept.jsonl:2: ")
    assert said in str(caught.value)
