"""From an event to whose rules judge and what is compared with: a work tree and a job are given."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.github.context import Job
from gate.github.local_repository import Opened, open_local
from gate.records import BaselineRules, Config
from gate.run.home import find_home
from gate.run.rules_for_event import Where, choose_rules, find_release_before, place_of
from gate.suites.config.load import defaults
from gate.suites.protection.rules import Rules
from tests.support.git_repository import git

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
RULES = """version: 1
agent: {type: sample}
suites: [{name: s, dataset: cases.jsonl, graders: [exact_match]}]
gates: {agent.success_rate: {min: %s}}
"""
RELEASE = Job(
    event="push", mode="release", head_sha="a" * 40, head_ref="v1.0.0", previous_release=True
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """`main` asks for 0.9, the branch that is checked out for 0.1."""
    git(tmp_path, "init", "-q", "-b", "main")
    for branch, least in (("main", 0.9), ("topic", 0.1)):
        if branch != "main":
            git(tmp_path, "checkout", "-q", "-b", branch)
        (tmp_path / "gate.yml").write_text(RULES % least, encoding="utf-8")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", branch)
    return tmp_path


OTHER_CI = Job(other_ci=True)


def rules_of(
    work: Path, job: Job, *, alone: bool = False, protect: str | bool | None = None
) -> Rules:
    where = Where(job, open_local(work), {}, NOW)
    return choose_rules(where, find_home(str(work / "gate.yml")), protect=protect, alone=alone)


def least(work: Path, job: Job, *, alone: bool = False) -> float | None:
    return rules_of(work, job, alone=alone).config.gates[0].min


def test_a_job_is_judged_by_the_commit_that_its_event_names(work: Path) -> None:
    main = git(work, "rev-parse", "main")
    assert least(work, Job(event="pull_request", mode="pull_request", protect_ref=main)) == 0.9
    assert least(work, Job(event="push", mode="branch", protect_ref="main")) == 0.9
    target = Job(event="pull_request_target", protect_ref=main, untrusted_head=True)
    assert least(work, target) == 0.9


def test_a_laptop_is_judged_by_its_files_and_told_what_differs_from_the_base(work: Path) -> None:
    main = git(work, "rev-parse", "main")
    (work / "gate.yml").write_text(RULES % 0.2 + "policy: {error: warn}\n", encoding="utf-8")
    (work / "cases.jsonl").write_text("", encoding="utf-8")
    rules = rules_of(work, Job())
    assert rules.config.gates[0].min == 0.2
    assert rules.base_sha == main, "the baseline is that of where HEAD left main"
    assert rules.loosened == ()
    assert rules.notes == (
        f"judged by your local files; main ({main[:7]}) has other rules: gate.yml "
        "(gates, policy), cases.jsonl; `gate run --protect` judges as a pull request would be",
    )


def test_on_a_laptop_another_agent_is_no_other_rule_and_no_base_is_no_note(work: Path) -> None:
    other = (RULES % 0.9).replace("type: sample", "type: command, command: [echo]")
    (work / "gate.yml").write_text(other, encoding="utf-8")
    assert rules_of(work, Job()).notes == ()
    git(work, "branch", "-q", "-D", "main")
    git(work, "branch", "-q", "-m", "topic", "trunk")
    assert rules_of(work, Job()).config.baseline.branch == "trunk"
    (work / "gate.yml").write_text(other + "baseline: {branch: gone}\n", encoding="utf-8")
    rules = rules_of(work, Job())
    assert (rules.notes, rules.base_sha) == ((), None)
    assert rules.why_no_base.startswith("there is no branch gone here")


def test_a_base_whose_rules_cannot_be_read_here_is_told_and_judges_nothing(work: Path) -> None:
    (work / "gate.yml").write_text("suites: [", encoding="utf-8")
    git(work, "commit", "-q", "-a", "-m", "broken")
    git(work, "branch", "-q", "-f", "main")
    (work / "gate.yml").write_text(RULES % 0.2, encoding="utf-8")
    (note,) = rules_of(work, Job()).notes
    assert "has other rules: gate.yml (cannot be read there);" in note
    git(work, "rm", "-q", "--cached", "gate.yml")
    git(work, "commit", "-q", "-m", "none")
    git(work, "branch", "-q", "-f", "main")
    (note,) = rules_of(work, Job()).notes
    assert "has other rules: gate.yml (not there);" in note


def test_protect_rehearses_the_view_of_a_pull_request(work: Path) -> None:
    main = git(work, "rev-parse", "main")
    for ref in (True, "main", main):
        rules = rules_of(work, Job(), protect=ref)
        assert rules.config.gates[0].min == 0.9
        assert rules.loosened == ("`agent.success_rate` min 0.90 -> 0.10 in `gate.yml:4`",)
    own = rules_of(work, Job(), protect="topic")
    assert own.config.gates[0].min == 0.1
    assert own.base_sha == git(work, "rev-parse", "topic")
    with pytest.raises(UsageError, match="--protect: there is no branch gone here"):
        rules_of(work, Job(), protect="gone")
    with pytest.raises(UsageError, match="--protect: event push already decides whose rules apply"):
        rules_of(work, Job(event="push", mode="branch", protect_ref="main"), protect=True)


def test_another_ci_is_protected_and_tells_where_it_cannot_be(work: Path) -> None:
    main = git(work, "rev-parse", "main")
    assert (least(work, OTHER_CI), rules_of(work, OTHER_CI).base_sha) == (0.9, main)
    itself = rules_of(work, OTHER_CI, protect="gone")
    assert itself.config.gates[0].min == 0.1
    assert itself.notes[0].startswith("judged by its own rules: there is no branch gone here;")
    git(work, "checkout", "-q", "--detach", "main")
    (work / "gate.yml").write_text(RULES % 0.3, encoding="utf-8")
    own = rules_of(work, OTHER_CI)
    assert own.config.gates[0].min == 0.3
    assert own.notes == ("judged by its own rules: HEAD is a commit of main itself",)
    assert rules_of(work, OTHER_CI, protect=True).config.gates[0].min == 0.9


def test_a_release_a_schedule_and_a_plan_are_judged_by_the_own_rules(work: Path) -> None:
    assert least(work, RELEASE) == 0.1
    assert least(work, Job(event="schedule", mode="schedule")) == 0.1
    assert least(work, Job(), alone=True) == 0.1


@pytest.mark.parametrize(("agent", "count"), [("sample", 0), ("command", 1)])
def test_a_token_that_a_program_of_the_change_could_read_is_told(
    work: Path, agent: str, count: int
) -> None:
    text = (RULES % 0.1).replace("type: sample", f"type: {agent}, command: [echo]")
    (work / "gate.yml").write_text(text if count else RULES % 0.1, encoding="utf-8")
    git(work, "config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic eA==")
    pull = replace(PULL, protect_ref=git(work, "rev-parse", "main"))
    notes = rules_of(work, pull).notes
    assert [note.startswith("the checkout stores the workflow's token") for note in notes] == (
        [True] * count
    )


PULL = Job(event="pull_request", mode="pull_request")
PUSH = Job(event="push", mode="branch", head_ref="topic")


@pytest.mark.parametrize(
    ("job", "env", "why"),
    [
        (PULL, {}, "the payload of pull_request names no base commit"),
        (PUSH, {}, "the payload of push names no default branch"),
        (replace(PULL, protect_ref="c" * 40), {}, "has no gate.yml that can be read"),
        (replace(PULL, protect_ref="gone"), {}, "has no gate.yml that can be read"),
        (replace(PUSH, protect_ref="gone", default_branch="gone"), {}, "that can be read"),
        (OTHER_CI, {}, "HEAD is a commit of topic itself"),
    ],
)
@pytest.mark.parametrize("protect", ["true", "false"])
def test_where_the_bases_rules_cannot_be_had_a_note_says_why(
    work: Path, job: Job, env: dict[str, str], why: str, protect: str
) -> None:
    """Whatever this branch's own `protect` says."""
    git(work, "branch", "-q", "-D", "main")
    (work / "gate.yml").write_text(RULES % 0.1 + f"protect: {protect}\n", encoding="utf-8")
    rules = rules_of(work, job)
    assert rules.config.gates[0].min == 0.1
    (note,) = rules.notes
    assert note.startswith("judged by its own rules: ")
    assert why in note


def test_a_branch_that_is_its_own_base_and_a_laptop_without_protection_say_nothing(
    work: Path,
) -> None:
    git(work, "branch", "-q", "-D", "main")
    (work / "gate.yml").write_text(RULES % 0.1 + "protect: false\n", encoding="utf-8")
    git(work, "commit", "-q", "-a", "-m", "protect")
    for job in (Job(), replace(PUSH, default_branch="topic"), RELEASE):
        assert rules_of(work, job).notes == ()


@pytest.mark.parametrize("untrusted", [True, False])
def test_a_link_in_place_of_the_folder_does_not_lead_to_other_rules(
    work: Path, monkeypatch: pytest.MonkeyPatch, untrusted: bool
) -> None:
    for name, minimum in (("strict", 0.9), ("mild", 0.1)):
        (work / name).mkdir()
        (work / name / "gate.yml").write_text(RULES % minimum, encoding="utf-8")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "two agents")
    sha = git(work, "rev-parse", "HEAD")
    shutil.rmtree(work / "strict")
    (work / "strict").symlink_to("mild")
    monkeypatch.chdir(work)
    job = Job(event="pull_request", mode="pull_request", protect_ref=sha, untrusted_head=untrusted)
    for config in ("strict/gate.yml", f"{work}/strict/gate.yml"):
        with pytest.raises(UsageError, match="strict goes through a symbolic link"):
            choose_rules(Where(job, open_local(work / "strict"), {}, NOW), find_home(config))
    where = Where(job, open_local(work / "mild"), {}, NOW)
    rules = choose_rules(where, find_home("mild/gate.yml"))
    assert rules.config.gates[0].min == 0.1


def compared_by(source: str) -> Config:
    return replace(defaults(), baseline=BaselineRules(source=source))


@pytest.mark.parametrize("source", ["auto", "repo", "artifact"])
def test_a_release_asks_for_the_one_before_it_and_says_why_it_cannot(source: str) -> None:
    found = find_release_before(RELEASE, "", compared_by(source))
    assert found.no_base == "no earlier release is known: GitHub's API is not available"
    rules = Rules(config=defaults(), own=defaults(), root=Path())
    where = Where(found, Opened(forge=None, git=None), {}, NOW)
    assert place_of(where, rules).no_base == found.no_base


@pytest.mark.parametrize("source", ["none", "kept/baselines", "kept.json"])
def test_a_baseline_that_somebody_named_is_looked_for_nowhere_else(source: str) -> None:
    assert find_release_before(RELEASE, "", compared_by(source)) == RELEASE


def test_other_events_have_their_base_already() -> None:
    job = Job(event="push", mode="branch", base_sha="b" * 40)
    assert find_release_before(job, "", compared_by("auto")) == job
