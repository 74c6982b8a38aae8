"""summary.json has plain sentences; reports show its names as code all the same."""

import json
from dataclasses import replace

import pytest

from gate.report.write_all import summary
from gate.store.code_marks import put_marks, take_marks
from gate.store.session_check import report_of
from tests.support.golden_runs import RUNS
from tests.support.reports import regression

HOSTILE = "agent.success_rate fell; the agent said `rm -rf /` and ``` and `a"
TEXTS = [
    "`agent.success_rate` fell by 9.1 points; `max_rounds` allows no more",
    "changes the grader file `mine.py`: its metrics are not compared",
    "stage 1 leaves this open; run `gate run --shard I/N --stage 2`",
    "`correctness.fact_accuracy` min 0.90 -> 0.10 in `gate.yml:5`, sets `protect: false`",
    "`retrieval.recall@5` and `agent.pass^3` could not be measured",
]


def reason_of(text):
    return json.loads(summary(regression(reason=text)))["reason"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_sentence_of_ours_is_plain_in_the_file_and_marked_again_when_read(text):
    report = regression(reason=text, notes=(text,), loosened=(text,))
    written = json.loads(summary(report))
    assert written["reason"] == written["notes"][0] == written["loosened"][0]
    assert written["reason"] == text.replace("`", "")
    read = report_of(summary(report))
    assert (read.reason, read.notes, read.loosened) == (text, (text,), (text,))
    assert read.code == ()


def test_the_words_of_others_stay_as_they_are():
    assert reason_of(HOSTILE) == HOSTILE
    assert report_of(summary(regression(reason=HOSTILE))).reason == HOSTILE
    both = f"`agent.success_rate`: {HOSTILE}"
    assert reason_of(both) == f"agent.success_rate: {HOSTILE}"


def test_what_is_marked_is_not_marked_within():
    text = "`agent.success_rate` fell: `no agent.success_rate here`, see x.agent.success_rate"
    read = report_of(summary(regression(reason=text)))
    assert read.reason == text


def test_a_plain_word_is_no_code_wherever_it_stands():
    text = "`policy` of `analytics`: the policy in analytics"
    assert reason_of(text) == text.replace("`", "")
    assert report_of(summary(regression(reason=text))).reason == text.replace("`", "")


def test_only_whole_names_are_marked():
    report = regression(reason="`a.b` and a.bc, a.b.c, /a.b, a.b.", code=())
    assert put_marks(take_marks(report)).reason == "`a.b` and a.bc, a.b.c, /a.b, `a.b`."


@pytest.mark.parametrize("name", RUNS)
def test_no_report_of_ours_has_markdown_in_its_file(name):
    if name == "hostile":
        return
    report = RUNS[name]().report
    written = summary(report)
    assert "`" not in written
    assert json.loads(summary(report_of(written))) == json.loads(written)


def test_what_an_older_version_wrote_is_read_as_it_is():
    text = summary(replace(regression(), reason="plain"))
    old = json.loads(text)
    old["reason"] = "`agent.success_rate` fell"
    del old["code"]
    assert report_of(json.dumps(old)).reason == "`agent.success_rate` fell"
