"""Metrics that have another name now, wherever an older version or a user wrote the old one."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

import gate
from gate.analysis.metric_names import RENAMED
from gate.records import codec
from gate.records.release_evidence import MANIFEST
from gate.run.release_evidence.write import seal_files
from gate.store.baseline.file import parse
from gate.store.baseline.pool import digest, starts_anew
from gate.store.session import load_session
from tests.support.git_repository import git
from tests.support.in_process import output_of, run_command, run_session
from tests.support.session_files import details_of, summary_of
from tests.support.written_by_0_1 import unpack

OLD, NEW = "correctness.completeness", "correctness.reference_coverage"
TOLD = f"{OLD} is called {NEW} now"
MARKED = f"`{OLD}` is called `{NEW}` now"
GATE = "gates: {correctness.faithfulness: {min: 2.5}}"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("written") / "shop")


@pytest.fixture
def shop(tmp_path: Path, written: Path) -> Path:
    """Where each suite can be run alone."""
    folder = shutil.copytree(written, tmp_path / "shop")
    quarantine = 'quarantine: [{case: orders-07, owner: "@shop", until: 2099-12-31}]'
    replace_in(folder / "gate.yml", quarantine, "")
    return folder


def replace_in(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def compared(summary: dict, metric: str = NEW) -> dict:
    (row,) = (one for one in summary["comparisons"] if one["metric"] == metric)
    return row


# --------------------------------------------------------------------------------- stored results


@pytest.mark.parametrize("before", ["baselines", "sessions/main-1"])
def test_a_run_is_compared_with_results_of_the_old_name(shop: Path, before: str) -> None:
    report = summary_of(run_session(shop, "--suite", "advice", "--baseline", before))
    row = compared(report)
    assert (row["status"], row["n_paired"], row["baseline"]) == ("no_regression", 8, 3.75)
    told = [note for note in report["baseline"]["notes"] if OLD in note]
    assert told == [f"{TOLD}: the stored results have the old name and count all the same"]
    comment = (shop / "results").glob("session-*/comment.md")
    assert next(comment).read_text("utf-8").count(f"`{OLD}`") == 1


@pytest.mark.parametrize("order", [1, -1])
def test_sessions_of_both_names_are_compared_either_way(shop: Path, order: int) -> None:
    now = run_session(shop, "--suite", "advice", "--baseline", "none", "--stop", "off")
    pair = [str(now), "sessions/main-1"][::order]
    report = json.loads(output_of(shop, "compare", *pair, "--format", "json"))
    row = compared(report)
    assert (row["status"], row["n_paired"], row["delta"]) == ("no_regression", 8, 0.0)


def test_a_saved_baseline_has_the_new_names_alone(shop: Path) -> None:
    session = run_session(shop, "--baseline", "baselines", "--stop", "off")
    output_of(shop, "baseline", "save", str(session))
    text = (shop / "baselines" / "advice.json").read_text("utf-8")
    assert not [old for old in RENAMED if old in text]
    assert len(json.loads(text)["cases"][0]["values"][NEW]) == 8  # two rounds of four runs
    again = summary_of(run_session(shop, "--suite", "advice", "--baseline", "baselines"))
    assert compared(again)["n_paired"] == 8
    assert not [note for note in again["baseline"]["notes"] if "is called" in note]


def test_somebodys_consent_is_tied_to_what_was_written_then(shop: Path) -> None:
    file = shop / "baselines" / "advice.json"
    content = file.read_bytes()
    assert OLD in content.decode()
    assert digest(parse(content, str(file))) == hashlib.sha256(content).hexdigest()


def test_an_interrupted_session_goes_on_under_the_new_names(shop: Path) -> None:
    session = shop / "sessions" / "interrupted"
    run_command(shop, "run", "--resume", str(session), "--stop", "off", "--baseline", "none")
    rows = [row for row in load_session(session).rows() if row["suite"] == "advice"]
    assert len(rows) == 16
    assert all(row["scores"][NEW] is not None for row in rows)
    assert not [row for row in rows if OLD in row["scores"]]
    assert summary_of(session)["suites"]["advice"]["metrics"][NEW]["n"] == 16


def test_a_session_is_read_under_the_new_names_and_not_written_over(shop: Path) -> None:
    folder = shop / "sessions" / "main-1"
    before = (folder / "meta.json").read_bytes(), (folder / "details.jsonl").read_bytes()
    session = load_session(folder)
    assert session.renamed["advice"][OLD] == NEW
    assert session.renamed["orders"] == {}
    suite = session.meta.suites["advice"]
    assert suite.specs[NEW].column == NEW
    assert {NEW} <= suite.graders.keys()
    assert {NEW} <= suite.told_by.keys()
    assert OLD not in {*suite.specs, *suite.graders, *suite.told_by}
    assert session.report is not None
    assert NEW in session.report.suites["advice"].metrics
    assert {one.metric for one in session.report.comparisons}.isdisjoint(RENAMED)
    run_command(shop, "report", str(folder))
    assert f"`{NEW}`" in (folder / "report.md").read_text("utf-8")
    assert ((folder / "meta.json").read_bytes(), (folder / "details.jsonl").read_bytes()) == before


def test_why_a_case_got_worse_is_told_of_old_rows_too(shop: Path) -> None:
    replace_in(shop / "gate.yml", GATE, f"gates: {{{NEW}: {{min: 4.9}}}}")
    out = run_command(
        *(shop, "compare", "sessions/main-1", "sessions/fail", "--format", "json"), code=1
    ).stdout
    (fall,) = (one for one in json.loads(out)["worse"] if one["metric"] == NEW)
    assert fall["worst"][0]["reason"].startswith("completeness is ")


# ----------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize(("least", "status", "code"), [(2.5, "pass", 0), (4.9, "fail", 1)])
def test_a_limit_on_the_old_name_holds_and_is_told_with_its_line(
    shop: Path, least: float, status: str, code: int
) -> None:
    replace_in(shop / "gate.yml", GATE, f"gates: {{{OLD}: {{min: {least}}}}}")
    replace_in(shop / "gate.yml", ", min_agreement: 0.2", "")  # six labels do not show it
    session = run_session(shop, "--suite", "advice", "--baseline", "none", code=code)
    report = summary_of(session)
    (row,) = (one for one in report["gates"] if one["metric"] == NEW)
    assert (row["status"], row["level"]) == (status, "block")
    (note,) = (one for one in report["notes"] if "is called" in one)
    assert note == f"gate.yml:15: suites[1].gates.{OLD}: {TOLD} - write the new name"


def test_the_rules_of_both_branches_are_the_same_by_either_name(shop: Path) -> None:
    replace_in(shop / "gate.yml", "protect: false\n", "")
    replace_in(shop / "gate.yml", GATE, f"gates: {{{OLD}: {{min: 2.5}}}}")
    git(shop, "init", "-q", "-b", "main")
    git(shop, "add", ".")
    git(shop, "commit", "-q", "-m", "The shop")
    git(shop, "checkout", "-q", "-b", "topic")
    replace_in(shop / "gate.yml", OLD, NEW)
    git(shop, "commit", "-q", "-a", "-m", "New names")
    report = summary_of(run_session(shop, "--protect", "main", "--suite", "advice"))
    assert report["loosened"] == []
    assert [one["status"] for one in report["gates"] if one["metric"] == NEW] == ["pass"]
    replace_in(shop / "gate.yml", "min: 2.5", "min: 1.5")
    git(shop, "commit", "-q", "-a", "-m", "A lower limit")
    report = summary_of(run_session(shop, "--protect", "main", "--suite", "advice"))
    assert [one for one in report["loosened"] if NEW in one]


def test_a_change_is_accepted_by_the_old_name(shop: Path) -> None:
    git(shop, "init", "-q", "-b", "main")
    git(shop, "config", "user.name", "Ana")
    accept = ("baseline", "accept", "--reason", "shorter", "--suite", "advice", "--metric")
    told = output_of(shop, *accept, OLD)
    assert f"--metric {OLD}: {MARKED} - write the new name" in told
    file = json.loads((shop / "baselines" / "advice.json").read_text("utf-8"))
    assert file["accepted"][0]["metrics"] == [NEW]
    assert starts_anew(parse((shop / "baselines" / "advice.json").read_bytes(), "advice.json"))
    wrong = run_command(shop, *accept, "correctness.reference_coverag", code=2).stderr
    assert f"did you mean '{NEW}'" in wrong


def test_python_checks_a_limit_by_the_old_name(shop: Path) -> None:
    judged = gate.check_gates(shop / "sessions" / "main-1", {OLD: {"min": 2.5}})
    assert [(one.metric, one.status) for one in judged.gates if one.suite == "advice"] == [
        (NEW, "pass")
    ]
    assert [note for note in judged.notes if MARKED.replace("`", "") in note]


def test_evidence_whose_rules_have_an_old_name_is_verified(shop: Path) -> None:
    """The judge gives all criteria the same points, so a rule on another one has its result."""
    folder = shop / "sessions" / "release" / "evidence"
    limit, other = f'"metric": "{OLD}"', '"metric": "correctness.faithfulness"'
    for name in ("rules.json", "config.json"):
        replace_in(folder / name, other, limit)
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    for row in (*summary["gates"], *summary["comparisons"]):
        twins = {"correctness.faithfulness": OLD, OLD: "correctness.faithfulness"}
        row["metric"] = twins.get(row["metric"], row["metric"])
    seen = summary["provenance"]["config_digest"], codec.digest(config)
    (folder / "summary.json").write_text(json.dumps(summary), "utf-8")
    for name in ("summary.json", "meta.json"):
        replace_in(folder / name, *seen)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    manifest["files"] = codec.to_json(seal_files(folder))
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    assert "Verified: octocat/demo v1.2.0" in output_of(shop, "verify", str(folder))


def test_the_rows_of_a_run_have_the_new_names(shop: Path) -> None:
    session = run_session(shop, "--suite", "advice", "--baseline", "none")
    judged = [row for row in details_of(session) if row["suite"] == "advice"]
    assert judged
    assert all(RENAMED.keys().isdisjoint(row["scores"]) for row in judged)
    assert "reference_coverage 3 of 5: " in judged[0]["reasons"]["judge"]
