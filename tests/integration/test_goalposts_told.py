"""A pull request that moves its own goalposts, in a whole `gate action` without git: the comment,
the report and the log say so.
"""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import pytest

from gate.files import bundled
from gate.report.console import render_console
from gate.store.session import load_session
from tests.support.action_runs import act
from tests.support.github_server import REPOSITORY, GitHub
from tests.support.in_process import run_command
from tests.support.runner import BASE

RULES = """version: 1
agent: {type: sample}
suites: [{name: s, dataset: d.jsonl, graders: [facts], rounds: 2}]
"""
FILE = ".github/workflows/gate.yml"
MOVED = "This change loosens the rules; it was judged by those of the base branch."


@pytest.fixture
def project(tmp_path: Path, github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rules, eight cases and a baseline, in the working tree and on main."""
    monkeypatch.chdir(tmp_path)
    cases = (bundled.folder() / "analytics" / "dataset.jsonl").read_bytes().splitlines()[:8]
    (tmp_path / "d.jsonl").write_bytes(b"\n".join(cases))
    (tmp_path / "gate.yml").write_text(RULES, encoding="utf-8")
    run_command(tmp_path, "run", "--baseline", "none")
    (measured,) = (tmp_path / "results").glob("session-*")
    run_command(tmp_path, "baseline", "save", str(measured), "--out", "baselines")
    shutil.rmtree(tmp_path / "results")
    for file in ("gate.yml", "d.jsonl", "baselines/s.json"):
        github.contents[BASE, file] = (tmp_path / file).read_bytes()
    return tmp_path


def everywhere(folder: Path, github: GitHub) -> list[str]:
    """The comment, the report for people and what the terminal shows, without markup."""
    (session,) = (folder / "results").glob("session-*")
    report = load_session(session).report
    assert report is not None
    shown = render_console(report, color=False, unicode=True, width=500)
    texts = (
        github.comments[-1]["body"],
        (session / "report.md").read_text(encoding="utf-8"),
        (session / "report.html").read_text(encoding="utf-8"),
        shown,
    )
    return [re.sub(r"[`\\]|</?code>", "", html.unescape(text)) for text in texts]


def test_what_the_change_makes_of_its_own_gate_is_told(project: Path, github: GitHub) -> None:
    (project / "baselines" / "s.json").unlink()
    fresh = f"{RULES}regression: {{control: fresh}}\n"
    (project / "gate.yml").write_text(fresh, encoding="utf-8")
    (project / FILE).parent.mkdir(parents=True)
    (project / FILE).write_text("with: {fail: false}\n", encoding="utf-8")
    github.contents[BASE, FILE] = b"with: {}\n"
    workflow = {"GITHUB_WORKFLOW_REF": f"{REPOSITORY}/{FILE}@refs/pull/3/merge"}
    assert act(project, github, env=workflow, fail="false") == 0
    for text in everywhere(project, github):
        assert MOVED in text
        assert "regression.control stored → fresh in gate.yml:4" in text
        assert "has no baseline file of s; the base branch's was used" in text
        assert f"changes the workflow {FILE}, which runs the gate" in text
        assert "the step always passes, whatever the verdict (fail: false in the workflow)" in text


@pytest.mark.parametrize("known", [True, False])
def test_rules_under_another_name_that_the_base_has_not_are_told(
    project: Path, github: GitHub, known: bool
) -> None:
    """GitHub's 404 is what it says, too, of what a token must not see."""
    tiny = (project / "d.jsonl").read_bytes().splitlines()[0]
    (project / "tiny.jsonl").write_bytes(tiny)
    few = "gates: {operational.p95_latency_ms: {max: 5000}}"
    warned = f", {{name: t, dataset: tiny.jsonl, graders: [facts], {few}}}]\n"
    easier = RULES.removesuffix("]\n") + warned + "regression: {tolerance: 0.9}\nprotect: false\n"
    (project / "other.yml").write_text(easier, encoding="utf-8")
    if not known:
        github.contents.clear()
    assert act(project, github, config="other.yml") == 0
    for text in everywhere(project, github):
        assert "judged by its own rules: main has no other.yml that can be read" in text
        assert ("and its gate.yml was not used" in text) is known
    (session,) = (project / "results").glob("session-*")
    first, second, *_ = json.loads((session / "summary.json").read_text("utf-8"))["notes"]
    assert first.startswith("judged by"), "warnings of an own file push it out of no comment"
    assert "p95" in second
