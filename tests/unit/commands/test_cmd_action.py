"""`gate action`: comment, summary, outputs and exit code around a run that is handed in."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gate.commands.action import Hooks, run
from gate.errors import InfrastructureError
from gate.github.api import Api, Time
from gate.github.comments import RetryPace
from gate.github.context import Job
from gate.github.delivery import Means
from gate.github.upload import Uploaded
from gate.records import Report
from gate.run.earlier_head import FindEarlier
from gate.run.resume import OtherSession
from gate.store.session import load_session
from tests.support.github_server import HEAD, REPOSITORY, GitHub, serving
from tests.support.session_artifacts import add_run, files_of_session
from tests.support.small_report import report as small_report
from tests.support.stored_session import store

SECRET = "hunter2hunter2"


@dataclass(frozen=True)
class Outcome:
    report: Report
    session_dir: Path


@dataclass
class Scene:
    """A runner: its files, its GitHub, and what was printed."""

    github: GitHub
    folder: Path
    session: Path
    error: Exception | None = None
    report: Report | None = None  # instead of the session's
    misfit: OtherSession | None = None
    exit_code: int = 0
    printed: list[str] = field(default_factory=list)
    asked: list[tuple[Sequence[str], Mapping[str, str]]] = field(default_factory=list)
    stored: list[tuple[Path, str]] = field(default_factory=list)
    artifact_id: str = "9"  # empty: the service refuses

    def execute(
        self,
        argv: Sequence[str],
        settings: Mapping[str, str],
        env: Mapping[str, str],
        find: FindEarlier,
    ) -> Outcome:
        found = find((), self.folder / "results")
        given = {**settings, "note": found.note} if found.note else settings
        self.asked.append((argv, given))
        self.printed.append("::error::forged by an answer")
        if self.error is not None:
            raise self.error
        if self.misfit is not None and any("--resume" in argument for argument in argv):
            raise self.misfit
        report = self.report or load_session(self.session).report
        assert report is not None
        return Outcome(report, self.session)

    def connect(self, job: Job, token: str) -> Api | None:
        quick = Time(sleep=lambda seconds: None)
        if not token:
            return None
        return Api(self.github.url, token, REPOSITORY, clock=quick, http_on_loopback=True)

    def act(self, event: str = "pull_request", **inputs: str) -> int:
        env = {
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "7",
            "GITHUB_RUN_ATTEMPT": "1",
            "INPUT_GITHUB-TOKEN": "token",
        }
        env |= {f"INPUT_{k.replace('_', '-').upper()}": v for k, v in inputs.items()}
        means = Means(
            redact=lambda text: text.replace(SECRET, "***"),
            connect=self.connect,
            echo=self.printed.append,
            pace=RetryPace(sleep=lambda seconds: None),
        )
        hooks = Hooks(execute=self.execute, means=means, store=self.store)
        return run(argparse.Namespace(), env, hooks)

    def store(self, folder: Path, name: str, env: Mapping[str, str]) -> Uploaded:
        self.stored.append((folder, name))
        return Uploaded(name=name, artifact_id=self.artifact_id, note=f"refused with {SECRET}")

    @property
    def outputs(self) -> dict[str, str]:
        lines = (self.folder / "output").read_text(encoding="utf-8").splitlines()
        return {lines[i].split("<<")[0]: lines[i + 1] for i in range(0, len(lines), 3)}

    @property
    def warnings(self) -> list[str]:
        return [line for line in self.printed if line.startswith("::warning")]


def payload(full_name: str = REPOSITORY) -> dict[str, Any]:
    head = {"sha": HEAD, "ref": "topic", "repo": {"full_name": full_name}}
    base = {"sha": "b" * 40, "ref": "main"}
    return {"pull_request": {"number": 3, "head": head, "base": base}}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    (tmp_path / "event.json").write_text(json.dumps(payload()), encoding="utf-8")
    session = store(tmp_path / "results", {"a": [True]}, commit=HEAD)
    with serving(GitHub()) as github:
        yield Scene(github=github, folder=tmp_path, session=session)
        assert github.violations == []


def edit_report(scene: Scene, **changes: Any) -> None:
    path = scene.session / "summary.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, **changes}), encoding="utf-8")


def test_comment_summary_and_outputs(scene: Scene) -> None:
    edit_report(scene, reason=f"all is well {SECRET}", notes=[f"a note {SECRET}"])
    assert scene.act(config="g.yml", on_error="warn") == 0
    assert scene.asked == [(("run", "--config=g.yml"), {"policy.error": "warn"})]
    body = scene.github.comments[0]["body"]
    assert body.startswith(f"<!-- agent-gate id=gate sha={HEAD} run=7.1 v=1 -->\n## ")
    assert body.count("<!-- agent-gate") == 1
    assert "a note" in body
    assert SECRET not in body
    assert (scene.folder / "summary").read_text(encoding="utf-8").startswith("## ")
    assert scene.outputs["outcome"] == "pass"
    assert scene.outputs["summary"] == "all is well ***"
    assert scene.outputs["comment-url"] == scene.github.comments[0]["html_url"]
    assert scene.outputs["session-dir"] == f"results/{scene.session.name}"
    assert scene.outputs["check-run-url"] == ""


def stored_before(scene: Scene) -> None:
    """An earlier run of the same commit left its session in GitHub."""
    add_run(scene.github, 7, files_of_session(scene.folder, 2))


def test_a_re_run_goes_on_with_the_stored_session(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scene.folder)
    stored_before(scene)
    assert scene.act(results_dir="out") == 0
    ((argv, settings),) = scene.asked
    folder = Path("out", "session-20261119-120002-0123abcd")
    assert argv == ("run", "--out=out", f"--resume={folder}")
    assert settings == {"note": f"continues the stored session {folder.name}"}
    assert (folder / "events.jsonl").is_file()


def test_a_session_that_is_named_is_gone_on_with_and_no_other(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scene.folder)
    stored_before(scene)
    assert scene.act(results_dir="out", resume="mine") == 0
    assert [argv for argv, _ in scene.asked] == [("run", "--resume=mine", "--out=out")]


def test_a_stored_session_that_does_not_fit_is_left_alone_and_the_report_says_so(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scene.folder)
    stored_before(scene)
    scene.misfit = OtherSession("the agent changed since")
    assert scene.act() == 0
    resumed, anew = scene.asked
    assert resumed[0][-1].startswith("--resume=")
    assert anew == (
        ("run",),
        {"note": "the stored session of this commit was not used: the agent changed since"},
    )


@pytest.mark.parametrize("inputs", [{"shard": "1/2"}, {"merge": "a b"}])
def test_parts_of_a_run_go_on_with_nothing(scene: Scene, inputs: dict[str, str]) -> None:
    stored_before(scene)
    assert scene.act(**inputs) == 0
    assert not any("resume" in argument for argument in scene.asked[0][0])


def test_what_the_run_prints_is_no_command(scene: Scene) -> None:
    scene.act()
    forged = scene.printed.index("::error::forged by an answer")
    stop, go = scene.printed[forged - 1], scene.printed[forged + 1]
    assert stop == f"::stop-commands::{go.strip(':')}"


def test_a_check_run_when_asked_for(scene: Scene) -> None:
    assert scene.act(check_run="true") == 0
    (check,) = scene.github.checks
    assert (check["name"], check["status"]) == ("Agent Gate: gate", "completed")
    assert scene.outputs["check-run-url"] == "https://example.test/check/1"


@pytest.mark.parametrize(
    ("code", "fail", "wanted"),
    [(1, "true", 1), (1, "false", 0), (3, "false", 0), (6, "", 6), (6, "false", 0)],
)
def test_the_exit_code_is_the_verdicts(scene: Scene, code: int, fail: str, wanted: int) -> None:
    edit_report(scene, exit_code=code, outcome="fail")
    assert scene.act(fail=fail) == wanted
    assert scene.outputs["exit-code"] == str(code)
    assert scene.outputs["passed"] == "false"


def test_a_read_only_token_warns_and_changes_nothing(scene: Scene) -> None:
    scene.github.read_only = True
    assert scene.act(check_run="true") == 0
    (warning,) = scene.warnings
    assert "add `permissions: pull-requests: write`" in warning
    assert "add `permissions: checks: write`" in warning
    assert scene.outputs["comment-url"] == scene.outputs["check-run-url"] == ""


def test_a_fork_is_told_of_the_second_workflow(scene: Scene) -> None:
    scene.github.read_only = True
    event = scene.folder / "event.json"
    event.write_text(json.dumps(payload("mallory/demo")), encoding="utf-8")
    assert scene.act() == 0
    assert "`gate comment`" in scene.warnings[0]


def test_no_token_warns(scene: Scene) -> None:
    assert scene.act(github_token="") == 0
    assert "there is no token" in scene.warnings[0]
    assert scene.github.seen == []


@pytest.mark.parametrize(
    ("event", "inputs"),
    [
        ("push", {}),
        ("pull_request", {"comment": "never"}),
        ("pull_request", {"comment": "on-failure"}),
        ("pull_request", {"shard": "1/2"}),
    ],
)
def test_no_comment_where_none_is_wanted(scene: Scene, event: str, inputs: dict[str, str]) -> None:
    assert scene.act(event, **inputs) == 0
    assert scene.github.comments == []
    assert scene.warnings == []
    assert scene.outputs["outcome"] == "pass"


def test_surfaces_can_be_turned_off(scene: Scene) -> None:
    edit_report(scene, exit_code=1, outcome="fail")
    scene.act(annotations="false", summary="false")
    assert not (scene.folder / "summary").exists()
    assert len(scene.printed) == 3
    scene.act()
    assert any(line.startswith("::error title=") for line in scene.printed)


@pytest.mark.parametrize(("fail", "code"), [("true", 6), ("false", 0)])
def test_a_run_without_a_verdict_has_outputs(scene: Scene, fail: str, code: int) -> None:
    scene.error = InfrastructureError(f"agent not running at x {SECRET}")
    assert scene.act(fail=fail) == code
    assert scene.outputs == {
        "outcome": "error",
        "exit-code": "6",
        "passed": "false",
        "summary": "agent not running at x ***",
        "deploy": "false",
    }
    assert scene.printed[-1] == "::error title=Agent Gate::agent not running at x ***"


@pytest.mark.parametrize("wrong", [{"comment": "x"}, {"comment_id": "a b"}, {"verbose": "ja"}])
def test_a_wrong_input_is_exit_2_whatever_fail_says_and_the_pull_request_learns_it(
    scene: Scene, wrong: dict[str, str]
) -> None:
    ((name, value),) = wrong.items()
    assert scene.act(**wrong, fail="false") == 2
    assert f"::{name.replace('_', '-')}: '{value}'" in scene.printed[-1]
    assert scene.outputs["exit-code"] == "2"
    assert scene.asked == []
    assert f"'{value}'" in scene.github.comments[0]["body"]


def test_a_bug_of_ours_ends_the_check_and_is_not_hidden(scene: Scene) -> None:
    scene.error = ZeroDivisionError("our bug")
    with pytest.raises(ZeroDivisionError):
        scene.act(check_run="true", fail="false")
    assert scene.github.checks[0]["conclusion"] == "failure"
    assert scene.outputs["exit-code"] == "70"
    assert "this is a bug of Agent Gate" in scene.github.comments[0]["body"]


def test_a_bug_while_the_verdict_is_shown_ends_the_check_too(scene: Scene) -> None:
    (scene.session / "summary.json").write_text("{}", encoding="utf-8")
    scene.report = small_report("pass")
    assert scene.act(check_run="true") == 2
    assert scene.github.checks[0]["conclusion"] == "failure"


def test_a_comment_event_asks_no_agent(scene: Scene) -> None:
    assert scene.act("issue_comment") == 0
    assert scene.asked == []
    assert "nothing to do" in scene.printed[0]


def test_an_acceptance_runs_the_gates_run_again(scene: Scene) -> None:
    scene.github.permissions["ann"] = "write"
    scene.github.runs.append({"id": 7, "status": "completed", "conclusion": "failure"})
    scene.act()
    comment = {"id": 5, "body": "/gate accept x", "user": {"login": "ann", "type": "User"}}
    issue = {"number": 3, "pull_request": {"url": "https://example.test"}}
    event = {"action": "created", "issue": issue, "comment": comment}
    (scene.folder / "event.json").write_text(json.dumps(event), encoding="utf-8")
    asked = len(scene.asked)
    assert scene.act("issue_comment") == 0
    assert scene.github.reruns == ["7/rerun"]  # its comment says that it passed
    assert len(scene.asked) == asked


def test_the_session_becomes_an_artifact_where_that_is_wanted(scene: Scene) -> None:
    scene.act()
    assert scene.stored == []
    scene.act(upload_artifact="true")
    scene.act(upload_artifact="true", shard="2/8")
    scene.act(upload_artifact="true", shard="2/8", stage="2", resume="look")
    names = [f"gate-session-{HEAD}{part}" for part in ("", "-2-of-8", "-2-of-8-stage-2")]
    assert scene.stored == [(scene.session, name) for name in names]


def test_a_refused_artifact_is_a_warning_and_no_more(scene: Scene) -> None:
    scene.artifact_id = ""
    assert scene.act(upload_artifact="true") == 0
    (warning,) = scene.warnings
    assert "The session was not stored: refused with ***" in warning


def test_a_verdict_stands_where_the_outputs_cannot_be_written(scene: Scene) -> None:
    (scene.folder / "output").mkdir()
    before = len(scene.printed)
    assert scene.act() == 0
    told = [line for line in scene.printed[before:] if "outputs" in line]
    assert len(told) == 1
    assert told[0].startswith("::warning")
    assert "The verdict stands." in told[0]
    posted = scene.github.requests("POST") + scene.github.requests("PATCH")
    assert not any("Nothing was judged" in str(seen.body) for seen in posted)
