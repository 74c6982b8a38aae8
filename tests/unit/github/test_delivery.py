"""The ladder comment, job summary, check run, file: what is told when a rung is refused, and that
every way a run can end is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gate.errors import InfrastructureError, Interrupted, InvalidInput, Place, Problem, UsageError
from gate.github.api import Api, Time
from gate.github.comments import RetryPace
from gate.github.context import Job
from gate.github.delivery import Delivery, Means
from gate.github.inputs import read_inputs
from gate.github.outputs import SUMMARY_BYTES
from gate.records import Report
from gate.store.session import load_session
from tests.support.github_server import HEAD, REPOSITORY, GitHub, serving
from tests.support.stored_session import store

SECRET = "hunter2hunter2"
RUN = "https://example.test/octo/demo/actions/runs/7"
DOWN = InfrastructureError(f"the agent is not running at x {SECRET}; start it")


@dataclass(frozen=True)
class Outcome:
    report: Report
    session_dir: Path


@dataclass
class Stage:
    github: GitHub
    folder: Path
    session: Path
    can_write: bool = True
    hints: tuple[str, ...] = ()
    printed: list[str] = field(default_factory=list)

    def connect(self, job: Job, token: str) -> Api | None:
        return Api(self.github.url, token, REPOSITORY, clock=Time(sleep=lambda seconds: None))

    def delivery(self, summary: str | None = "summary", **inputs: str) -> Delivery:
        env = {f"INPUT_{k.replace('_', '-').upper()}": v for k, v in inputs.items()}
        env |= {"GITHUB_OUTPUT": str(self.folder / "output"), "GITHUB_TOKEN": "token"}
        if summary is not None:
            env["GITHUB_STEP_SUMMARY"] = str(self.folder / summary)
        job = Job(
            event="pull_request",
            mode="pull_request",
            head_sha=HEAD,
            pull_request=3,
            can_write=self.can_write,
            hints=self.hints,
            run_id="7",
            run_attempt="1",
            run_url=RUN,
        )
        means = Means(
            redact=lambda text: text.replace(SECRET, "***"),
            connect=self.connect,
            echo=self.printed.append,
            pace=RetryPace(sleep=lambda seconds: None),
        )
        return Delivery(read_inputs(env), job, env, means)

    def finished(self) -> Outcome:
        report = load_session(self.session).report
        assert report is not None
        return Outcome(report, self.session)

    def ended(self, error: BaseException | None = None, **more: Any) -> int:
        made = self.delivery(**more)
        made.begin()
        if error is not None:
            return made.no_verdict(error)
        made.verdict(self.finished())
        return 0

    @property
    def warnings(self) -> list[str]:
        return [line for line in self.printed if line.startswith("::warning")]

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text(encoding="utf-8")

    @property
    def check(self) -> Mapping[str, Any]:
        (found,) = self.github.checks
        return found


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    session = store(tmp_path / "results", {"a": [True]}, commit=HEAD)
    with serving(GitHub()) as github:
        yield Stage(github=github, folder=tmp_path, session=session)
        assert github.violations == []


def test_all_rungs_say_the_same(stage: Stage) -> None:
    stage.ended(check_run="true")
    heading = stage.summary.splitlines()[0]
    assert heading.startswith("## ")
    assert heading in stage.github.comments[0]["body"]
    assert heading in stage.check["output"]["summary"]
    assert stage.warnings == []


def test_a_check_run_is_made_only_where_it_is_asked_for(stage: Stage) -> None:
    """GitHub alone chooses the workflow that it shows it under; the job itself is a check."""
    stage.ended()
    assert stage.github.checks == []
    assert len(stage.github.comments) == 1


def test_two_jobs_have_a_comment_and_a_check_each(stage: Stage) -> None:
    for name in ("web", "api"):
        stage.ended(check_run="true", comment_id=name)
    marks = [comment["body"].split()[2] for comment in stage.github.comments]
    assert marks == ["id=web", "id=api"]
    names = [check["name"] for check in stage.github.checks]
    assert names == ["Agent Gate: web", "Agent Gate: api"]


def test_a_title_and_a_name_are_the_users(stage: Stage) -> None:
    stage.ended(check_run="true", comment_title="Support *bot*", check_name="support")
    heading = stage.summary.splitlines()[0]
    assert " Support \\*bot\\*: Pass" in heading
    assert heading in stage.github.comments[0]["body"]
    assert stage.check["name"] == "support"
    stage.ended(DOWN, comment_title="Support")
    assert "Support: Error: no verdict" in stage.github.comments[0]["body"]


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"comment": "never"}, "`comment: never`, and the outcome is pass"),
        (
            {"comment": "on-error"},
            "`comment: on-error`, and the outcome is pass; there is no earlier comment to update",
        ),
        ({"shard": "1/2"}, "this run has a part of the cases; the job that joins the parts writes"),
    ],
)
def test_the_log_says_why_there_is_no_comment(
    stage: Stage, inputs: dict[str, str], why: str
) -> None:
    stage.ended(**inputs)
    assert stage.github.comments == []
    (line,) = (line for line in stage.printed if "omment" in line)
    assert line.startswith(f"No comment was written: {why}")


def test_the_log_says_that_another_commit_is_judged_by_now(stage: Stage) -> None:
    stage.github.heads[3] = "b" * 40
    stage.ended()
    (line,) = (line for line in stage.printed if "omment" in line)
    assert "the pull request is now at bbbbbbb, but this run judged aaaaaaa" in line


def test_a_refused_comment_is_in_the_summary(stage: Stage) -> None:
    stage.github.forbidden = ("issues",)
    stage.ended(check_run="true")
    (warning,) = stage.warnings
    assert "the comment: GitHub answered 403" in warning
    assert "add `permissions: pull-requests: write` to the job" in warning
    assert warning.endswith("Its content is in the job summary.")
    assert stage.check["conclusion"] == "success"


@pytest.mark.parametrize("there", ["none", "full", "folder"])
def test_without_a_summary_it_is_in_the_check_run(stage: Stage, there: str) -> None:
    stage.github.forbidden = ("issues",)
    if there == "full":
        (stage.folder / "summary").write_bytes(b"x" * SUMMARY_BYTES)
    if there == "folder":
        (stage.folder / "summary").mkdir()
    stage.ended(check_run="true", summary=None if there == "none" else "summary")
    (warning,) = stage.warnings
    assert "the job summary: " in warning
    assert warning.endswith("Its content is in the check run https://example.test/check/1.")


def test_without_anything_it_is_in_the_file(stage: Stage) -> None:
    stage.github.read_only = True
    stage.ended(check_run="true", summary=None)
    (warning,) = stage.warnings
    assert "permissions: pull-requests: write" in warning
    assert "permissions: checks: write" in warning
    assert "permissions: statuses: write" in warning
    assert warning.endswith(f"Its content is in {stage.session / 'comment.md'}.")


def test_a_lost_summary_alone_is_no_failure(stage: Stage) -> None:
    stage.ended(summary=None)
    (warning,) = stage.warnings
    assert f"is in the comment {stage.github.comments[0]['html_url']}." in warning


def test_a_fork_is_told_of_the_second_workflow_once(stage: Stage) -> None:
    stage.github.read_only, stage.can_write = True, False
    stage.ended(check_run="true")
    (warning,) = stage.warnings
    assert warning.count("`gate comment` in a workflow that workflow_run starts") == 1
    assert "add `permissions" not in warning, "no permission helps a fork"


def test_a_refused_check_run_becomes_a_status(stage: Stage) -> None:
    stage.github.forbidden = ("check-runs",)
    stage.ended(check_run="true")
    (status,) = stage.github.statuses
    assert (status["state"], status["context"]) == ("success", "Agent Gate: gate")
    assert status["target_url"] == RUN
    (warning,) = stage.warnings
    assert "add `permissions: checks: write`" in warning
    assert "a commit status was written instead" in warning


def test_an_error_is_told_everywhere_without_its_secrets(stage: Stage) -> None:
    assert stage.ended(DOWN, check_run="true") == 6
    body = stage.github.comments[0]["body"]
    assert body.startswith(f"<!-- agent-gate id=gate sha={HEAD} run=7.1 v=1 -->\n## 💥 Error")
    for text in (body, stage.summary, stage.check["output"]["summary"]):
        assert "the agent is not running at x \\*\\*\\*; start it" in text
        assert f"]({RUN})" in text
        assert "(exit code 6)" in text
    assert (stage.check["status"], stage.check["conclusion"]) == ("completed", "failure")
    assert SECRET not in str(stage.github.seen)


def test_an_error_replaces_the_verdict_on_an_older_commit(stage: Stage) -> None:
    old = f"<!-- agent-gate id=gate sha={'b' * 40} run=5.1 v=1 -->\n## ✅ Pass\n"
    stage.github.comment(old)
    stage.ended(DOWN)
    (comment,) = stage.github.comments
    assert "Pass" not in comment["body"]


def test_an_error_of_a_job_that_never_comments_is_not_commented(stage: Stage) -> None:
    stage.ended(DOWN, comment="never")
    assert stage.github.comments == []
    assert "Error" in stage.summary


def test_hostile_messages_are_only_text(stage: Stage) -> None:
    stage.ended(UsageError("@octocat <!-- agent-gate --> ![x](https://e.test/x.png)\n::error::x"))
    (comment,) = stage.github.comments
    text = comment["body"].split("\n", 1)[1]
    assert "@octocat" not in text
    assert "<!--" not in text
    assert "](https://e.test" not in text
    assert not any(line.startswith("::error::x") for line in stage.printed)


def test_many_problems_are_listed_and_counted(stage: Stage) -> None:
    stage.ended(UsageError("\n".join(f"gate.yml:{n}: wrong" for n in range(50))))
    body = stage.github.comments[0]["body"]
    assert body.count("wrong") == 20
    assert "30 more in the log of the run" in body


def test_mistakes_in_files_stand_at_their_lines(stage: Stage) -> None:
    problems = [
        Problem(place=Place(file="gate.yml", line=4, key="suites[0].graderz"), message="unknown"),
        Problem(place=Place(file="d.jsonl", line=2), message=f"not JSON {SECRET}"),
    ]
    stage.ended(InvalidInput(problems))
    assert stage.printed == [
        "::error file=d.jsonl,line=2,title=Agent Gate::d.jsonl:2: not JSON ***",
        "::error file=gate.yml,line=4,title=Agent Gate::gate.yml:4: suites[0].graderz: unknown",
    ]
    stage.printed.clear()
    stage.ended(InvalidInput(problems), annotations="false")
    (line,) = stage.printed
    assert line.startswith("::error title=Agent Gate::d.jsonl:2: ")


def test_a_fork_is_told_beside_the_error_what_github_keeps_from_it(stage: Stage) -> None:
    stage.hints = ("GitHub gives a run from a fork no secrets",)
    stage.ended(UsageError("agent.api_key_env: the environment variable KEY is not set"))
    assert "> GitHub gives a run from a fork no secrets" in stage.summary


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("a: b"), 2, "a: b"),
        (KeyError("secret part"), 70, "this is a bug of Agent Gate"),
        (OSError(28, "No space left on device", "/r/x"), 6, "/r/x: No space left on device"),
        (SystemExit(2), 2, "an input is not valid"),
    ],
)
def test_every_kind_of_end_has_its_code(
    stage: Stage, error: BaseException, code: int, said: str
) -> None:
    assert stage.ended(error, check_run="true") == code
    assert stage.check["conclusion"] == "failure"
    assert said in stage.printed[-1]
    assert "secret part" not in str(stage.github.seen)


@pytest.mark.parametrize("error", [Interrupted("stopped", exit_code=130), KeyboardInterrupt()])
def test_a_cancelled_run_ends_its_check_and_leaves_the_comment(
    stage: Stage, error: BaseException
) -> None:
    assert stage.ended(error, check_run="true") == 130
    assert (stage.check["status"], stage.check["conclusion"]) == ("completed", "cancelled")
    assert stage.check["output"]["title"].startswith("the job was cancelled or ran out of time")
    assert "run it again" in stage.printed[-1]
    left_alone = "No comment was written: the run was cancelled; a newer one writes it."
    assert left_alone in stage.printed
    assert stage.github.comments == []
    assert not (stage.folder / "summary").exists()


def test_a_shard_says_nothing_on_the_pull_request(stage: Stage) -> None:
    stage.ended(shard="1/2", check_run="true")
    stage.ended(DOWN, shard="1/2", check_run="true")
    stage.ended(Interrupted("stopped", exit_code=130), shard="1/2", check_run="true")
    assert stage.github.seen == []
    assert not any("the run was cancelled" in line for line in stage.printed)


def test_a_merge_speaks_for_its_shards(stage: Stage) -> None:
    stage.ended(merge="one, two", check_run="true")
    assert len(stage.github.comments) == 1
    assert stage.check["conclusion"] == "success"


def test_a_merge_that_needs_stage_2_leaves_the_word_to_the_next(stage: Stage) -> None:
    summary = stage.session / "summary.json"
    summary.write_text(summary.read_text().replace('"open_suites": []', '"open_suites": ["s"]'))
    stage.ended(merge="one, two", check_run="true")
    assert stage.github.comments == []
    assert [check["status"] for check in stage.github.checks] in ([], ["in_progress"])
    assert "open<<" in (stage.folder / "output").read_text()
    assert "\ntrue\n" in (stage.folder / "output").read_text().partition("open<<")[2]


def test_a_full_disk_under_the_outputs_hides_no_error(stage: Stage) -> None:
    (stage.folder / "output").mkdir()
    assert stage.ended(DOWN) == 6
    assert len(stage.github.comments) == 1
