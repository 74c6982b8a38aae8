"""A project of twelve questions whose right answer is `yes`, and agents that know it."""

import json
from pathlib import Path

from gate.agents.recordings.answers import recording_line
from gate.records import Case, Response

CASES = [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(12)]


def write_project(folder, url, *, cases=CASES, more="", suite_more="rounds: 2"):
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    (folder / "cases.jsonl").write_text(lines)
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: openai, base_url: "{url}", model: m, concurrency: 4, timeout_s: 20}}
suites:
  - name: s
    dataset: cases.jsonl
    graders: [exact_match]
    max_attempts: 2
    {suite_more}
protect: false
{more}
"""
    )


def right(question, nth):
    return "yes"


def wrong_on(*numbers):
    return lambda question, nth: "no" if int(question[1:]) in numbers else "yes"


RECORDED = """version: 1
agent: {type: replay, file: answers.jsonl}
suites: [{name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 1}]
gates: {agent.success_rate: {min: 0.9}}
baseline: {source: none}
protect: false
"""


def write_recorded_project(tmp_path: Path, code: int) -> None:
    """A project whose run ends with the exit code 0 or 1."""
    (tmp_path / "gate.yml").write_text(RECORDED)
    rows = [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(6)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = Response(answer="no" if code else "yes")
    cases = [Case(id=row["id"], input=row["input"], keys=row) for row in rows]
    lines = [recording_line(case, 1, said, 5.0) + "\n" for case in cases]
    (tmp_path / "answers.jsonl").write_text("".join(lines))
