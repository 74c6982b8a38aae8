"""Others' published results never decide anything: the same verdict with them and without."""

import json
import shutil

import pytest

from tests.support.in_process import gate
from tests.support.stored_session import store

RATE = "agent.success_rate"
QUOTED = [
    {"metric": RATE, "value": 1.0, "of": "human", "year": 2023, "source": "a paper"},
    {"metric": RATE, "value": 0.0, "of": "GPT-4", "year": 2023, "source": "x", "approximate": True},
]
RULES = {
    "kept": "version: 1\nprotect: false\ngates: {agent.success_rate: {min: 0.2}}\n",
    "broken": "version: 1\nprotect: false\ngates: {agent.success_rate: {min: 0.99}}\n",
}


def quoting(folder):
    meta = folder / "meta.json"
    data = json.loads(meta.read_text())
    for suite in data["suites"].values():
        suite["quoted"] = QUOTED
    meta.write_text(json.dumps(data))
    return folder


def judged(folder, name, sessions):
    done = gate(folder, "compare", *map(str, sessions), "--config", "gate.yml", "--out", name)
    summary = json.loads((folder / name / "summary.json").read_text("utf-8"))
    suite = summary["suites"]["analytics"]
    suite["baseline"].pop("age_days")
    verdict = ("outcome", "exit_code", "reason", "comparisons", "gates", "cases", "worse", "suites")
    return done, {key: summary[key] for key in verdict}, suite.pop("quoted")


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("fell", [False, True])
def test_outcome_gates_and_exit_code_are_those_without_them(tmp_path, rules, fell):
    (tmp_path / "gate.yml").write_text(RULES[rules])
    cases = {f"c{n:02}": [True] * 3 for n in range(12)}
    worse = {case: [not fell] * 3 for case in cases}
    old = store(tmp_path / "a", cases, number=1)
    new = store(tmp_path / "b", worse, number=2)
    plain, without, none = judged(tmp_path, "plain", (old, new))
    shutil.copytree(new, tmp_path / "quoting")
    done, with_them, quoted = judged(tmp_path, "with", (old, quoting(tmp_path / "quoting")))
    assert (none, len(quoted)) == ([], 2)
    assert done.returncode == plain.returncode
    assert with_them == without
    assert with_them["outcome"] == ("fail" if fell else without["outcome"])
    shown = [line for line in done.stdout.splitlines() if "human" in line or "GPT-4" in line]
    assert shown
    assert "quoted, not measured here" in " ".join(done.stdout.split())
