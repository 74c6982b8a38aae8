"""The gates of the first source document, word for word, judge what its users would expect of them:
a value below its minimum fails, however few cases there are, and no value beyond a limit is shown
as well.
"""

import json

import pytest

from tests.support.in_process import gate
from tests.support.rule_judge import rule_judge
from tests.support.session_files import sessions_in

BLOCK = """\
QUALITY_GATES: {
    "retrieval.recall@5": {"min": 0.82, "target": 0.90},
    "retrieval.mrr": {"min": 0.75, "target": 0.85},
    "correctness.fact_accuracy": {"min": 0.90, "target": 0.95},
    "correctness.faithfulness": {"min": 4.0, "target": 4.5},  # out of 5
    "operational.p95_latency_ms": {"max": 5000, "target": 3000},
    "operational.hallucination_rate": {"max": 0.05, "target": 0.02},
}
"""
READ = ("report.md", "comment.md")
FOUND = [4] * 16 + [3] * 24  # of five documents a case: 136 of 200, recall 0.68
AGENT = """\
def answer(case):
    found = case["metadata"]["found"]
    ids = [f"d{n}" for n in range(found)] + [f"x{n}" for n in range(5 - found)]
    return {"answer": case["metadata"]["says"], "retrieved": [{"id": one} for one in ids]}
"""


@pytest.fixture(scope="module")
def judge():
    with rule_judge() as server:
        yield server


def folder_of(tmp_path, judge, says):
    cases = [
        {
            "id": f"q{n}",
            "query": f"How much was spent in week {n}?",
            "relevant_doc_ids": [f"d{k}" for k in range(5)],
            "expected_facts": [{"value": 1200}],
            "expected_answer": "EGP 1,200 was spent.",
            "context": "Spending: EGP 1,200.",
            "metadata": {"found": found, "says": says},
        }
        for n, found in enumerate(FOUND)
    ]
    lines = "\n".join(json.dumps(case) for case in cases)
    (tmp_path / "cases.jsonl").write_text(lines + "\n", "utf-8")
    (tmp_path / "agent.py").write_text(AGENT, "utf-8")
    (tmp_path / "gate.yml").write_text(
        f"""version: 1
agent: {{type: python, callable: "./agent.py:answer"}}
judge: {{type: openai, base_url: "{judge.url}", model: rules}}
suites:
  - name: money
    dataset: cases.jsonl
    graders: [retrieval, facts, hallucination, {{judge: {{rubric: answer}}}}]
    rounds: 1
{BLOCK}""",
        "utf-8",
    )
    return tmp_path


def test_recall_below_its_minimum_blocks_and_is_named_as_the_document_prints_it(tmp_path, judge):
    folder = folder_of(tmp_path, judge, "EGP 1,200 was spent.")
    done = gate(folder, "run", "--baseline", "none")
    session = sessions_in(folder)[-1]
    summary = json.loads((session / "summary.json").read_text("utf-8"))
    assert (done.returncode, summary["outcome"]) == (1, "fail"), done.stdout + done.stderr
    rows = {row["metric"]: row for row in summary["gates"]}
    assert [name for name, row in rows.items() if row["status"] != "pass"] == ["retrieval.recall@5"]
    recall = rows["retrieval.recall@5"]
    assert recall["reason"].startswith("FAIL: ")
    assert "retrieval.recall@5 = 0.6800 (minimum: 0.82)" in recall["reason"]
    assert recall["noise_odds"] == {"chance": None, "why": "there is no baseline"}
    for name in ("report.md", "comment.md"):
        told = (session / name).read_text("utf-8")
        (row,) = [line for line in told.splitlines() if "recall@5" in line and "0.82" in line][:1]
        assert "✅" not in row
    assert "retrieval.recall@5 = 0.68 (minimum: 0.82)" in (session / "report.md").read_text("utf-8")


def test_every_broken_gate_is_named(tmp_path, judge):
    folder = folder_of(tmp_path, judge, "EGP 77 was spent.")
    done = gate(folder, "run", "--baseline", "none", "--stop", "off")
    session = sessions_in(folder)[-1]
    summary = json.loads((session / "summary.json").read_text("utf-8"))
    broken = {row["metric"]: row for row in summary["gates"] if row["status"] == "fail"}
    assert done.returncode == 1
    assert {
        "retrieval.recall@5",
        "correctness.fact_accuracy",
        "operational.hallucination_rate",
    } <= set(broken)
    told = (session / "report.md").read_text("utf-8")
    for metric, row in broken.items():
        word = "minimum" if row["min"] is not None else "maximum"
        limit = row["min"] if row["min"] is not None else row["max"]
        value = f"{row['value']:.4f}"
        assert f"{metric} = {value} ({word}: {limit:g})" in row["reason"]
        assert f"{metric} = " in told
        assert f"({word}: " in told


MARKS = '''
from dataclasses import dataclass
from gate.records import MetricSpec, Score

@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The mark that the case has."""

    keys = {}
    needs = ()

    def metrics(self):
        name = "response_quality.mark"
        return (MetricSpec(name=name, column=name, low=0.0, high=10.0, unit="points"),)

    def grade(self, case, response):
        mark = case.keys["metadata"]["mark"]
        return Score(values={"response_quality.mark": mark}, passed=True)
'''


@pytest.mark.parametrize(
    ("rule", "code"), [("", 1), (", rule: convicted", 0), (", rule: proven", 1)]
)
def test_a_value_below_its_minimum_never_has_a_green_tick(tmp_path, rule, code):
    """A mark of 6.89 against min 8.00, so few and so far apart that the interval holds 8."""
    marks = [6.89 + 3.0 * (-1) ** n for n in range(6)]
    cases = [{"id": f"q{n}", "input": "?", "metadata": {"mark": m}} for n, m in enumerate(marks)]
    lines = "\n".join(json.dumps(case) for case in cases)
    (tmp_path / "cases.jsonl").write_text(lines + "\n", "utf-8")
    (tmp_path / "agent.py").write_text("def answer(case):\n    return 'x'\n", "utf-8")
    (tmp_path / "marks.py").write_text(MARKS, "utf-8")
    (tmp_path / "gate.yml").write_text(
        f"""version: 1
agent: {{type: python, callable: "./agent.py:answer"}}
suites:
  - {{name: marks, dataset: cases.jsonl, graders: ["./marks.py:Marks"], rounds: 1}}
gates:
  response_quality.mark: {{min: 8.00{rule}}}
""",
        "utf-8",
    )
    done = gate(tmp_path, "run", "--baseline", "none")
    assert done.returncode == code, done.stdout + done.stderr
    session = sessions_in(tmp_path)[-1]
    texts = [done.stdout, *((session / name).read_text("utf-8") for name in READ)]
    rows = [line for text in texts for line in text.splitlines() if "6.89" in line]
    assert len(rows) >= len(texts)
    assert not [row for row in rows if "✅" in row]
