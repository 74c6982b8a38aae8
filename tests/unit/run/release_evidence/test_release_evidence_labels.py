"""A release whose judge may not gate: its evidence comes to the same verdict."""

import json
from pathlib import Path

from gate.run.release_evidence import check as evidence_check
from gate.store.session import read_meta
from tests.support.labelled import label, lines
from tests.support.released import COMMIT, TAG, on_a_tag, project, run

FAITHFUL = "correctness.faithfulness"
CONFIG = """version: 1
agent: {type: python, callable: "./agent0.py:agent"}
judge: {type: python, callable: "./harsh.py:judge", model: harsh, min_agreement: 0.6}
suites:
  - {name: s, dataset: s.jsonl, graders: [exact_match, judge], rounds: 2}
gates: {correctness.faithfulness: {min: 4.5, rule: point}}
"""
JUDGE = r"""
import re

def judge(case):
    token = re.search(r"canary`: (\S+)", case["instructions"]).group(1)
    names = ("correctness", "completeness", "faithfulness")
    scores = {name: {"reason": "so", "score": 3} for name in names}
    return {**scores, "addressed_judge": False, "canary": token}
"""


def test_what_may_not_gate_is_in_the_evidence_and_so_are_the_labels(tmp_path: Path) -> None:
    project(tmp_path, config=CONFIG)
    (tmp_path / "harsh.py").write_text(JUDGE, encoding="utf-8")
    before = run(tmp_path, "--baseline=none").session_dir
    digest = read_meta(before).suites["s"].graders[FAITHFUL]
    rated = json.loads((before / "details.jsonl").read_text().splitlines()[0])
    row = label(
        rated["case_id"],
        3.0,
        3.0,
        metric=FAITHFUL,
        judge_digest=digest,
        case_digest=rated["case_digest"],
    )
    (tmp_path / "reviews").mkdir()
    (tmp_path / "reviews" / "labels.jsonl").write_text(lines([row]), encoding="utf-8")
    outcome = run(tmp_path, f"--baseline={before}", env=on_a_tag(tmp_path))
    assert (outcome.report.outcome, outcome.report.gates[0].level) == ("pass", "warn")
    folder = outcome.session_dir / "evidence"
    rules = json.loads((folder / "rules.json").read_text())
    assert "needs 5 rated cases, has 1" in rules["advisory"]["s"][FAITHFUL]
    assert (folder / "labels.jsonl").read_text() == lines([row])
    assert list(evidence_check.verify(folder, commit=COMMIT, tag=TAG).faults) == []
