"""Which line of recorded answers is of which trial, and which is of none."""

import json
from types import SimpleNamespace

import pytest

from gate.errors import UsageError
from gate.run.grading.read_trials import (
    DUPLICATE,
    MOST_TRIALS,
    UNKNOWN,
    UNREADABLE,
    AnswerFile,
    TrialReader,
)

PLACES = {"a": 10, "b": 20}


def plan(name="s", ids=("a", "b"), retry="infra"):
    suite = SimpleNamespace(retry=retry, max_attempts=2)
    return SimpleNamespace(name=name, suite=suite, all_ids=frozenset(ids))


@pytest.fixture
def reader(tmp_path):
    """Makes a reader of one file for each list of rows."""

    def make(*files, plans=(plan(),), places=(PLACES,), done=(), most=MOST_TRIALS):  # noqa: B008
        found = []
        for number, rows in enumerate(files):
            path = tmp_path / f"{number}.jsonl"
            lines = (row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
            path.write_bytes(b"".join(line + b"\n" for line in lines))
            found.append(AnswerFile(path=path, name=path.name))
        return TrialReader(found, plans, places, lambda *key: key in done, most)

    return make


def trials(reader):
    """(suite, case, round, places of its lines) of each trial, and what was skipped."""
    batches = list(reader.batches())
    made = [
        (trial[0], case_id, trial[2], [line[:2] for line in trial[3]])
        for batch in batches
        for case_id, trial in zip(batch.case_ids, batch.trials, strict=True)
    ]
    return made, [(s.file, s.line, s.kind) for batch in batches for s in batch.skipped]


def answer(case_id, number=None, **more):
    return {"case_id": case_id, **({"round": number} if number else {}), "answer": "x", **more}


def nobody(case_id, number):
    return {"case_id": case_id, "round": number, "infra_error": "refused"}


def test_rounds_are_those_of_the_rows_or_their_order(reader):
    rows = [answer("a"), answer("b", 2), answer("a"), answer("b"), answer("a", 7), answer("a")]
    made, skipped = trials(reader(rows))
    rounds = [(case_id, number) for _, case_id, number, _ in made]
    assert rounds == [("a", 1), ("b", 2), ("a", 2), ("b", 3), ("a", 7), ("a", 8)]
    assert skipped == []


def test_tries_without_an_answer_belong_to_the_answer_that_follows(reader):
    rows = [nobody("a", 1), nobody("b", 1), answer("b", 2), nobody("a", 1), answer("a", 1)]
    made, _ = trials(reader(rows))
    assert made == [
        (0, "b", 2, [(0, 3)]),
        (0, "a", 1, [(0, 1), (0, 4), (0, 5)]),
        (0, "b", 1, [(0, 2)]),  # nobody answered
    ]


def test_a_second_answer_is_a_duplicate_also_in_another_file(reader):
    made, skipped = trials(reader([answer("a", 1), answer("a", 1)], [answer("a", 1), answer("b")]))
    assert [one[1:3] for one in made] == [("a", 1), ("b", 1)]
    assert skipped == [(0, 2, DUPLICATE), (1, 1, DUPLICATE)]


def test_what_is_of_no_trial_is_told(reader):
    rows = [b"{", answer("z"), answer("a", suite="t"), {"ended": {}}, answer("a"), b"  "]
    one = reader(rows)
    made, skipped = trials(one)
    assert len(made) == 1
    assert skipped == [(0, 1, UNREADABLE), (0, 2, UNKNOWN), (0, 3, UNKNOWN)]
    assert one.rows == 4


def test_a_case_of_several_suites_needs_its_suite(reader):
    plans, places = (plan("s"), plan("t", ["a"])), (PLACES, {"a": 30})
    rows = [answer("a"), answer("a", suite="t"), answer("b"), answer("b", suite="t")]
    made, skipped = trials(reader(rows, plans=plans, places=places))
    assert [(suite, case_id) for suite, case_id, _, _ in made] == [(1, "a"), (0, "b")]
    assert skipped == [(0, 1, UNKNOWN), (0, 4, UNKNOWN)]


def test_cases_that_do_not_run_are_left_out(reader):
    made, skipped = trials(reader([answer("c"), answer("a")], plans=(plan(ids="abc"),)))
    assert [case_id for _, case_id, _, _ in made] == ["a"]
    assert skipped == []


def test_trials_that_are_done_are_left_out(reader):
    rows = [answer("a"), answer("b"), answer("a"), answer("a", 1)]
    made, skipped = trials(reader(rows, done={("s", "a", 1)}))
    assert [one[1:3] for one in made] == [("b", 1), ("a", 2)]
    assert skipped == [(0, 4, DUPLICATE)]


def test_where_any_failure_is_retried_all_answers_of_a_round_are_its_tries(reader):
    rows = [answer("a", 1), answer("b", 1), answer("a", 1), nobody("b", 2), answer("b", 2)]
    made, skipped = trials(reader(rows, plans=(plan(retry="any_failure"),)))
    assert made == [
        (0, "b", 1, [(0, 2)]),
        (0, "a", 1, [(0, 1), (0, 3)]),
        (0, "b", 2, [(0, 4), (0, 5)]),
    ]
    assert skipped == []


def test_batches_are_bounded_in_trials_and_bytes(reader):
    rows = [answer("a") for _ in range(7)]
    assert [len(batch.trials) for batch in reader(rows, most=3).batches()] == [3, 3, 1]
    rows = [answer("a", text="x" * 600_000) for _ in range(5)]
    assert [len(batch.trials) for batch in reader(rows).batches()] == [2, 2, 1]


def test_a_file_that_cannot_be_read_to_its_end_is_remembered(reader, tmp_path):
    one = reader([answer("a"), nobody("b", 1)], [answer("b")])
    (tmp_path / "1.jsonl").write_bytes(b"\x1f\x8b but no gzip")
    made, _ = trials(one)
    assert [case_id for _, case_id, _, _ in made] == ["a"]
    assert isinstance(one.broken, UsageError)
    assert "1.jsonl: cannot be read after line 0" in str(one.broken)
