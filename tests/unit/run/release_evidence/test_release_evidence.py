"""The evidence folder of a release: what is in it, and what `gate verify` says of it."""

import hashlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gate import __version__
from gate.analysis.default_gates import VIOLATIONS
from gate.commands import verify as command
from gate.commands.options.all import parse
from gate.errors import InvalidInput, UsageError
from gate.files.json_schema import mismatches
from gate.files.own_source import digest_of_gate
from gate.records.codec import to_json
from gate.records.release_evidence import MANIFEST, Manifest, schema
from gate.run.release_evidence import check as evidence_check
from gate.run.save_baseline import write
from gate.store.baseline.anchor import MainRuns, anchor_of, name_anchor
from gate.store.baseline.sources.file import session_baseline
from gate.store.session import load_session
from tests.support.released import COMMIT, CONFIG, KEY, TAG, on_a_tag, project, release, run


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outcome = release(tmp_path_factory.mktemp("passed"))
    assert (outcome.report.outcome, outcome.report.exit_code) == ("pass", 0)
    return outcome.session_dir / "evidence"


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outcome = release(tmp_path_factory.mktemp("failed"), wrong=9)
    assert (outcome.report.outcome, outcome.report.exit_code) == ("fail", 1)
    return outcome.session_dir / "evidence"


@pytest.fixture
def copy(passed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(passed, tmp_path / "evidence")


def faults(folder: Path, *, commit: str | None = COMMIT, tag: str | None = TAG) -> list[str]:
    return list(evidence_check.verify(folder, commit=commit, tag=tag).faults)


def loaded(folder: Path, name: str = MANIFEST) -> dict:
    return json.loads((folder / name).read_bytes())


def rewrite(folder: Path, name: str, change: Callable[[dict], object]) -> None:
    """Changes a JSON file and writes the manifest anew, as somebody who forges it would."""
    data = loaded(folder, name)
    change(data)
    forge(folder, name, json.dumps(data).encode())


def forge(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    manifest = loaded(folder)
    sealed = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    manifest["files"][name] = sealed
    (folder / MANIFEST).write_text(json.dumps(manifest))


# ------------------------------------------------------------------------------------------ writing


def test_it_holds_what_ran_on_what_compared_with_what_and_what_came_out(passed: Path) -> None:
    names = {path.relative_to(passed).as_posix() for path in passed.rglob("*") if path.is_file()}
    assert names == {
        *("evidence.json", "summary.json", "details.jsonl", "meta.json", "environment.json"),
        *("gate.yml", "config.json", "rules.json", "datasets/s.jsonl", "datasets/t.csv"),
        *("baselines/s.json", "baselines/t.json"),
    }
    assert (passed / "gate.yml").read_text(encoding="utf-8") == CONFIG
    manifest = loaded(passed)
    assert (manifest["tag"], manifest["commit"]) == (TAG, COMMIT)
    assert (manifest["repository"], manifest["outcome"]) == ("octocat/demo", "pass")
    assert manifest["run"] == "https://github.com/octocat/demo/actions/runs/7"
    facts = loaded(passed, "environment.json")
    assert facts["agent"]["type"] == "python"
    assert facts["packages"]["numpy"]
    assert facts["variables"]["GITHUB_SHA"] == COMMIT


def test_the_manifest_has_every_file_with_its_hash_in_order(passed: Path) -> None:
    manifest = loaded(passed)
    assert mismatches(schema(), manifest) == []
    assert list(manifest["files"]) == sorted(manifest["files"])
    for name, sealed in manifest["files"].items():
        data = (passed / name).read_bytes()
        assert sealed == {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}


def test_no_secret_gets_into_it(failed: Path) -> None:
    everything = b"".join(path.read_bytes() for path in failed.rglob("*") if path.is_file())
    assert b"no ***" in everything, "the agent's answers, which hold the key"
    assert KEY.encode() not in everything


@pytest.mark.parametrize("mode", ["laptop", "shard"])
def test_other_runs_and_shards_leave_none(mode: str, tmp_path: Path) -> None:
    project(tmp_path)
    env = on_a_tag(tmp_path) if mode == "shard" else {}
    more = ("--shard=1/2",) if mode == "shard" else ()
    session = run(tmp_path, "--baseline=none", *more, env=env).session_dir
    assert not (session / "evidence").exists()


def test_no_suite_can_have_the_folder_s_name(tmp_path: Path) -> None:
    project(tmp_path, config=CONFIG.replace("name: s,", "name: Evidence,"))
    with pytest.raises(InvalidInput, match="choose another name"):
        run(tmp_path)


# ---------------------------------------------------------------------------------------- verifying


@pytest.mark.parametrize("kind", ["passed", "failed"])
def test_what_a_release_wrote_is_verified(kind: str, request: pytest.FixtureRequest) -> None:
    checked = evidence_check.verify(request.getfixturevalue(kind), commit=COMMIT, tag=TAG)
    assert (checked.faults, checked.trials) == ((), 60)


def test_what_main_lost_since_its_anchor_is_computed_again(tmp_path: Path) -> None:
    project(tmp_path)
    session = load_session(run(tmp_path, "--suite=s", "--baseline=none").session_dir)
    pool = session_baseline(session, "s")
    anchor = anchor_of(MainRuns(table=pool.table, runs=pool.runs), ["success"])
    pool = replace(pool, anchor=name_anchor(anchor, "release", "v1.1.0", None))
    write(tmp_path / "base", pool)
    project(tmp_path, wrong=5)
    base = f"--baseline={tmp_path / 'base'}"
    outcome = run(tmp_path, "--suite=s", base, env=on_a_tag(tmp_path))
    assert "main has lost 41.7 points" in outcome.report.reason
    evidence = outcome.session_dir / "evidence"
    assert faults(evidence) == []
    rewrite(
        evidence,
        "summary.json",
        lambda summary: summary["suites"]["s"]["anchor"]["levels"][0].update(change=-0.1),
    )
    assert any("the anchor of agent.success_rate" in fault for fault in faults(evidence))


def test_a_gate_that_nobody_wrote_is_a_rule_of_the_release(tmp_path: Path) -> None:
    project(tmp_path, config=CONFIG.replace("[exact_match]", "[exact_match, safety]"))
    outcome = run(tmp_path, "--baseline=none", env=on_a_tag(tmp_path))
    assert [gate.metric for gate in outcome.report.gates if gate.by_default] == [VIOLATIONS]
    assert faults(outcome.session_dir / "evidence") == []


def test_a_release_without_a_baseline_and_with_a_part_of_the_cases(tmp_path: Path) -> None:
    project(tmp_path)
    env = on_a_tag(tmp_path)
    outcome = run(tmp_path, "--baseline=none", "--suite=s", "--sample=7", env=env)
    assert outcome.report.exit_code == 4, "a release needs something to compare with"
    assert faults(outcome.session_dir / "evidence") == []


def test_a_part_of_the_cases_against_the_whole_baseline(tmp_path: Path) -> None:
    outcome = release(tmp_path, "--sample=7")
    assert {suite.not_selected for suite in outcome.report.suites.values()} == {5}
    assert faults(outcome.session_dir / "evidence") == []


def test_a_budget_that_ended_the_run(tmp_path: Path) -> None:
    project(tmp_path, config=CONFIG + "budget: {calls: 20}\n")
    outcome = run(tmp_path, "--baseline=none", env=on_a_tag(tmp_path))
    assert any(suite.not_run for suite in outcome.report.suites.values())
    assert faults(outcome.session_dir / "evidence") == []


def test_an_agent_out_of_reach(tmp_path: Path) -> None:
    nowhere = CONFIG.replace(
        '{type: python, callable: "./agent0.py:agent"}',
        '{type: openagent, base_url: "http://127.0.0.1:9", model: m}',
    )
    project(tmp_path, config=nowhere)
    outcome = run(tmp_path, "--baseline=none", env=on_a_tag(tmp_path))
    assert (outcome.report.outcome, outcome.report.exit_code) == ("error", 6)
    assert faults(outcome.session_dir / "evidence") == []


def test_a_control_that_was_asked_beside(tmp_path: Path) -> None:
    fresh = CONFIG + "regression: {control: fresh}\n"
    fresh += 'control_agent: {type: python, callable: "./old.py:agent"}\n'
    project(tmp_path, wrong=9, config=fresh)
    (tmp_path / "old.py").write_text("def agent(case):\n    return 'yes'\n")
    outcome = run(tmp_path, env=on_a_tag(tmp_path))
    assert outcome.report.outcome == "fail"
    assert outcome.report.suites["s"].baseline.source == "control"
    folder = outcome.session_dir / "evidence"
    assert (folder / "_control" / "details.jsonl").is_file()
    assert faults(folder) == []


def test_of_another_commit_or_tag(passed: Path) -> None:
    (told,) = faults(passed, commit="d" * 40)
    assert "d" * 40 in told
    (told,) = faults(passed, tag="v9")
    assert "v9" in told
    assert faults(passed, commit=None, tag=None) == []


# -------------------------------------------------------------------------- files that were changed


def test_a_changed_a_missing_and_a_new_file(copy: Path) -> None:
    text = (copy / "gate.yml").read_bytes()
    (copy / "gate.yml").write_bytes(text.replace(b"0.5", b"0.1"))
    assert [fault.split(":")[0] for fault in faults(copy)] == ["gate.yml"]
    (copy / "gate.yml").unlink()
    assert faults(copy) == ["gate.yml: missing"]
    (copy / "gate.yml").write_bytes(text)
    (copy / "datasets" / "more.jsonl").write_text("{}")
    assert faults(copy) == ["datasets/more.jsonl: not listed in the manifest"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own")
def test_links_are_not_followed(copy: Path, tmp_path: Path) -> None:
    shutil.copy(copy / "gate.yml", tmp_path / "same.yml")
    (copy / "gate.yml").unlink()
    (copy / "gate.yml").symlink_to(tmp_path / "same.yml")
    (told,) = faults(copy)
    assert told.startswith("gate.yml: a link")
    (copy / "datasets").rename(tmp_path / "elsewhere")
    (copy / "datasets").symlink_to(tmp_path / "elsewhere")
    assert any(fault.startswith("datasets: a link") for fault in faults(copy))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_a_pipe_is_never_opened(copy: Path) -> None:
    (copy / "gate.yml").unlink()
    os.mkfifo(copy / "gate.yml")
    (told,) = faults(copy)
    assert "special file" in told


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a\\b", "datasets//x", "C:x", "a\n", ""])
def test_a_name_that_leads_out_of_the_folder_is_none(copy: Path, name: str) -> None:
    manifest = loaded(copy)
    manifest["files"][name] = {"sha256": "0" * 64, "size": 0}
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert any("not a plain file name" in fault for fault in faults(copy))


def test_folders_in_folders_are_too_deep(copy: Path) -> None:
    deep = copy / "datasets" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "c").write_text("x")
    assert any(fault.startswith("datasets/a/b: ") for fault in faults(copy))


# ------------------------------------------------------------------ a forged folder, hashes and all


FORGED = {
    "the outcome": ("summary.json", lambda d: d.update(outcome="fail"), "outcome"),
    "the exit code": ("summary.json", lambda d: d.update(exit_code=1), "exit_code"),
    "the commit": ("summary.json", lambda d: d["provenance"].update(commit="d" * 40), "commit"),
    "the mode": ("summary.json", lambda d: d["provenance"].update(mode="branch"), "branch mode"),
    "the policy": ("summary.json", lambda d: d["policy"].update(error="pass"), "policy"),
    "the hash of the rules": (
        "summary.json",
        lambda d: d["provenance"].update(config_digest="0" * 64),
        "config_digest",
    ),
    "the hash of a dataset": (
        "summary.json",
        lambda d: d["suites"]["s"].update(dataset_digest="0" * 64),
        "another dataset",
    ),
    "a number": (
        "summary.json",
        lambda d: d["suites"]["s"]["metrics"]["agent.success_rate"].update(value=0.75),
        "agent.success_rate is stated as 0.75, its trials say 1",
    ),
    "the rules": (
        "rules.json",
        lambda d: d["config"]["gates"][0].update(min=0.1),
        "gates are not those of config.json",
    ),
    "a limit that somebody wrote told as one by default": (
        "rules.json",
        lambda d: d["config"]["gates"][0].update(by_default=True),
        "gates are not those of config.json",
    ),
    "the rules that were hashed": (
        "config.json",
        lambda d: d["gates"][0].update(min=0.1),
        "config_digest",
    ),
    "the decision": (
        "summary.json",
        lambda d: d["decision"].update(deploy=True),
        "says deploy: yes, its trials say no",
    ),
    "a failure mode": (
        "summary.json",
        lambda d: d["suites"]["s"].update(modes=[{"mode": "loop", "trials": 1, "cases": 1}]),
        "cases that fail by loop is stated as 1, its trials say nothing",
    ),
    "violations": (
        "summary.json",
        lambda d: d["suites"]["s"].update(violations=1),
        "violations is stated as 1, its trials say 0",
    ),
    "a suite that is not there": (
        "summary.json",
        lambda d: d["suites"].pop("s"),
        "says nothing about the suite 's'",
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_disagrees_with_the_rest_is_seen(copy: Path, what: str) -> None:
    name, change, expected = FORGED[what]
    rewrite(copy, name, change)
    told = faults(copy)
    assert any(expected in fault for fault in told), told


def test_trials_that_say_otherwise_decide_otherwise(copy: Path) -> None:
    rows = [json.loads(line) for line in (copy / "details.jsonl").read_text().splitlines()]
    for row in rows:
        row["passed"] = False
        row["attempts"][0]["passed"] = False
    forge(copy, "details.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    assert "summary.json says pass (exit code 0), its trials say fail (exit code 1)" in faults(copy)


def test_a_baseline_that_is_easier_decides_otherwise(failed: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(failed, tmp_path / "evidence")
    text = (copy / "baselines" / "s.json").read_text()
    forge(
        copy,
        "baselines/s.json",
        text.replace('"success": [1, 1, 1]', '"success": [0, 0, 0]').encode(),
    )
    assert any("comparison s: agent.success_rate" in fault for fault in faults(copy))


def test_a_suite_that_was_cut_out_everywhere_but_in_the_rules_is_missed(copy: Path) -> None:
    """Its failure would go with it."""

    def without(data: dict) -> None:
        data["suites"].pop("t")
        for rows in ("comparisons", "gates"):
            data[rows] = [row for row in data[rows] if row["suite"] != "t"]

    rewrite(copy, "summary.json", without)
    rewrite(copy, "meta.json", lambda data: data["suites"].pop("t"))
    lines = (copy / "details.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["suite"] != "t"]
    forge(copy, "details.jsonl", "".join(kept).encode())
    assert "summary.json and rules.json are not of the same suites" in faults(copy)


def test_an_acceptance_that_somebody_put_in_makes_no_release_pass(
    failed: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(failed, tmp_path / "evidence")
    said = [{"who": "eve", "when": "2026-01-01T00:00:00Z", "why": "x", "metrics": []}]

    def passing(data: dict) -> None:
        data.update(accepted=said, outcome="pass", exit_code=0)
        for row in (*data["comparisons"], *data["gates"]):
            bad = row["status"] in ("regression", "fail")
            row["status"] = "accepted" if bad else row["status"]
        for suite in data["suites"].values():
            suite["outcome"] = "pass"

    rewrite(copy, "summary.json", passing)
    manifest = {**loaded(copy), "outcome": "pass", "exit_code": 0}
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert "summary.json says pass (exit code 0), its trials say fail (exit code 1)" in faults(copy)


def test_trials_of_cases_that_the_dataset_does_not_have(copy: Path) -> None:
    text = (copy / "details.jsonl").read_text()
    forge(copy, "details.jsonl", text.replace('"c03"', '"c99"').encode())
    assert "details.jsonl: the dataset of 's' has no such case 'c99'" in faults(copy)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rules.json", b"[" * 100_000),
        ("rules.json", b"{}"),
        ("summary.json", b"\xff\xfe"),
        ("meta.json", b"null"),
        ("config.json", b"[]"),
        ("details.jsonl", b'{"case_id": 1}\n'),
        ("baselines/s.json", b"\x00"),
        ("datasets/s.jsonl", b"{"),
    ],
)
def test_what_is_no_evidence_at_all_is_a_fault_not_a_crash(
    copy: Path, name: str, content: bytes
) -> None:
    forge(copy, name, content)
    assert faults(copy)


def test_a_trial_without_an_end_is_not_read(copy: Path) -> None:
    forge(copy, "details.jsonl", b" " * evidence_check.MOST_LINE + b"\n")
    assert faults(copy) == [f"details.jsonl: a line of more than {evidence_check.MOST_LINE} bytes"]


def test_numbers_that_no_run_has_are_a_fault_not_a_crash(copy: Path) -> None:
    def huge(data: dict) -> None:
        data["suites"]["s"].update(cases=10**9, rounds=10**9)

    rewrite(copy, "meta.json", huge)
    assert faults(copy)


# ------------------------------------------------------------------------------------------ command


def verify(*arguments: str, **env: str) -> int:
    return command.run(parse(["verify", *arguments]), env)


def test_the_command_says_what_it_verified(passed: Path, capsys: pytest.CaptureFixture) -> None:
    job = {"GITHUB_SHA": COMMIT, "GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": TAG}
    assert verify(str(passed), **job) == 0
    said = capsys.readouterr().out
    assert said == (
        f"Verified: octocat/demo {TAG} at {COMMIT}: pass, exit code 0; 11 files, verdict "
        "recomputed from 60 trials.\n"
    )


def test_the_command_asks_for_the_job_s_tag_unless_told_another(passed: Path) -> None:
    job = {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v9"}
    assert verify(str(passed), **job) == 1
    assert verify(str(passed), "--tag", TAG, **job) == 0
    assert verify(str(passed), **{**job, "GITHUB_REF_TYPE": "branch"}) == 0


def test_the_command_names_what_it_could_not_compare(
    passed: Path, capsys: pytest.CaptureFixture
) -> None:
    assert verify(str(passed)) == 0
    assert "--commit, --tag" in capsys.readouterr().out


def test_the_command_has_a_line_a_fault(copy: Path, capsys: pytest.CaptureFixture) -> None:
    (copy / "gate.yml").unlink()
    (copy / "meta.json").unlink()
    assert verify(str(copy)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["not verified: gate.yml: missing", "not verified: meta.json: missing"]


# ------------------------------------------------------------------------------ of another version


def of_another(folder: Path, version: str, build: str = "0" * 64) -> None:
    """As another version would have written it, with one verdict that differs."""
    for name in ("summary.json", "meta.json"):
        rewrite(folder, name, lambda data: data["provenance"].update(tool_version=version))

    def suspected(data: dict) -> None:
        data["comparisons"][0].update(status="suspected")

    rewrite(folder, "summary.json", suspected)
    manifest = {**loaded(folder), "tool_version": version, "build": build}
    (folder / MANIFEST).write_text(json.dumps(manifest))


def test_the_manifest_names_the_source_that_judged(passed: Path) -> None:
    assert loaded(passed)["build"] == digest_of_gate()


def test_another_version_s_verdict_is_not_called_a_fault_and_not_verified(copy: Path) -> None:
    of_another(copy, "0.9.0")
    checked = evidence_check.verify(copy, commit=COMMIT, tag=TAG)
    assert checked.faults == ()
    (differs,) = checked.undecided
    assert "is stated as suspected" in differs


def test_with_the_same_source_it_is_a_fault(copy: Path) -> None:
    of_another(copy, __version__, digest_of_gate())
    checked = evidence_check.verify(copy, commit=COMMIT, tag=TAG)
    assert (len(checked.faults), checked.undecided) == (1, ())


def test_where_the_verdict_agrees_another_version_is_not_mentioned(
    copy: Path, capsys: pytest.CaptureFixture
) -> None:
    manifest = loaded(copy)
    del manifest["build"]
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert verify(str(copy), "--commit", COMMIT, "--tag", TAG) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda folder: (folder / "gate.yml").unlink(), "gate.yml: missing"),
        (lambda folder: (folder / "gate.yml").write_text("x"), "gate.yml: 1 bytes, not"),
        (
            lambda folder: rewrite(folder, "summary.json", lambda d: d.update(exit_code=1)),
            "summary.json has exit_code 1, evidence.json has 0",
        ),
        (
            lambda folder: rewrite(folder, "config.json", lambda d: d["gates"][0].update(min=0.1)),
            "config_digest",
        ),
    ],
)
def test_no_version_explains_files_that_do_not_fit(
    copy: Path, change: Callable[[Path], object], fault: str, capsys: pytest.CaptureFixture
) -> None:
    of_another(copy, "0.9.0")
    change(copy)
    assert verify(str(copy)) == 1
    said = capsys.readouterr().out
    assert fault in said
    assert all(line.startswith("not verified: ") for line in said.splitlines())


def test_what_only_another_version_can_read_is_not_decided(copy: Path) -> None:
    of_another(copy, "0.9.0")
    rewrite(copy, "rules.json", lambda data: data.update(a_later_key=1))
    checked = evidence_check.verify(copy, commit=COMMIT, tag=TAG)
    assert checked.faults == ()
    assert "a_later_key" in checked.undecided[0]


@pytest.mark.parametrize(
    ("version", "who", "reference"),
    [
        ("0.9.0", "0.9.0 wrote it, this is", "v0.9.0"),
        (__version__, "but not of the source that is installed here", "COMMIT"),
        ("1.0.0; rm -rf ~", "wrote it, this is", "COMMIT"),
        ("v1\n::error::x", "wrote it, this is", "COMMIT"),
    ],
)
def test_the_command_says_who_wrote_it_and_how_to_verify_it(
    copy: Path, version: str, who: str, reference: str, capsys: pytest.CaptureFixture
) -> None:
    of_another(copy, version)
    assert verify(str(copy), "--tag", TAG) == 1
    differs, *advice = capsys.readouterr().out.splitlines()
    assert differs.startswith("differs: comparison s: ")
    assert advice[0].startswith("Not decided: ")
    assert "which says pass, exit code 0" in advice[0]
    assert who in " ".join(advice)
    assert advice[-1] == (
        f"pipx run --spec git+https://github.com/agent-gate/agent-gate@{reference} "
        f"gate verify {shlex.quote(str(copy))} --tag {TAG}"
    )
    assert not [line for line in advice if line.startswith("::")]


@pytest.mark.parametrize("manifest", [None, b"{", b"{}", b"[" * 100_000, b'{"schema_version": 2}'])
def test_without_a_manifest_nothing_is_said(tmp_path: Path, manifest: bytes | None) -> None:
    if manifest is not None:
        (tmp_path / MANIFEST).write_bytes(manifest)
    with pytest.raises(UsageError):
        verify(str(tmp_path))


def test_a_manifest_of_a_later_version_is_not_read(copy: Path) -> None:
    manifest = loaded(copy)
    manifest["schema_version"] = 2
    (copy / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match="schema_version"):
        verify(str(copy))


def test_hostile_text_of_a_manifest_is_shown_as_text(
    copy: Path, capsys: pytest.CaptureFixture
) -> None:
    manifest = loaded(copy)
    manifest["files"]["\x1b[31m\n::error::x"] = {"sha256": "0", "size": 0}
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert verify(str(copy)) == 1
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert not [line for line in said.splitlines() if line.startswith("::")]


def test_a_manifest_survives_the_way_to_json_and_back() -> None:
    made = Manifest(
        tag=None,
        commit=None,
        repository=None,
        run=None,
        event="push",
        session_id="s",
        created_at="2026-11-21T00:00:00Z",
        tool_version="1",
        outcome="pass",
        exit_code=0,
        files={},
    )
    assert mismatches(schema(), to_json(made)) == []
