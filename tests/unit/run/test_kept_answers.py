from dataclasses import replace
from pathlib import Path

from gate.records.baseline import StoredAnswer
from gate.run.baseline_answers import keep_answers
from gate.store.baseline.answers import read_beside
from tests.support.measured_suites import measured_suite, success_table


def kept(folder: Path, suite, *, shown=True) -> dict[str, StoredAnswer]:
    assert keep_answers(folder, [suite], str, shown=shown) == ()
    return {one.case_id: one for one in read_beside(folder, suite.name)}


def graded(failed: int):
    """Of four cases; the column `facts` has what `success` has."""
    table = success_table(failed=failed, cases=4)
    columns = {**table.columns, "facts": table.columns["success"]}
    return replace(table, columns=columns, graders={"facts": "x"})


def test_scores_stand_beside_answers_and_alone_where_a_case_fails(tmp_path):
    suite = measured_suite(graded(1), graded(0))
    first, *_, last = suite.current.cases
    digest = suite.current.digests[-1]
    stored = (
        StoredAnswer(case_id=last, case_digest=digest, passed=True, answer="yes"),
        StoredAnswer(case_id=first, case_digest="another", passed=True, answer="edited since"),
    )
    compared = replace(suite.compared, stored_answers=lambda: iter(stored))
    found = kept(tmp_path, replace(suite, compared=compared))
    assert found[last].answer == "yes"
    assert found[last].means == {"facts": 1.0}
    failing = [one for one in found.values() if one.case_id != last]
    assert [(one.text, one.means) for one in failing] == [(None, {"facts": 1.0})]


def test_nothing_is_kept_where_answers_are_not_shown_or_nothing_is_compared(tmp_path):
    assert kept(tmp_path, measured_suite(graded(1), graded(0)), shown=False) == {}
    assert kept(tmp_path, measured_suite(graded(1))) == {}
