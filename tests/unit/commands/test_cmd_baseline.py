"""`gate baseline save, pull, show, accept`, each through the parser and a real repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gate.cli import run as cli
from gate.commands import baseline
from gate.commands.baseline_sources import open_desk
from gate.commands.options.all import parse as options
from gate.errors import GateError, InfrastructureError, UsageError
from gate.records import AcceptedChange
from gate.records.forge import Artifact, BaselineRequest
from gate.store.baseline.file import parse
from tests.support.baseline_project import commit_baseline_project
from tests.support.git_repository import git
from tests.support.stored_session import store

PUSH = {"GITHUB_EVENT_NAME": "push", "GITHUB_REPOSITORY": "octo/demo"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """A host that has baselines as artifacts. `files`: commit -> the baseline file of its run, or
    of the nearest run before it.
    """

    files: dict[str, Path]
    has_artifacts: bool = True

    def read(self, path: str, ref: str) -> bytes | None:
        return None

    def release_anchor(self, request: BaselineRequest, since: str) -> None:
        return None

    def artifact(self, request: BaselineRequest) -> Artifact:
        file = self.files.get(str(request.base_sha)) or self.files["b" * 40]
        made = f"{request.now:%Y-%m-%dT%H:%M:%SZ}"
        files = {"analytics.json": file.read_bytes()}
        return Artifact(files=files, commit="c" * 40, created_at=made, url="u", chosen_by="r")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on main whose gate.yml is in the current folder."""
    folder = commit_baseline_project(tmp_path / "repo")
    monkeypatch.chdir(folder)
    return folder


def gate(*arguments: str | Path, env: Mapping[str, str] | None = None) -> int:
    return baseline.run(options(["baseline", *map(str, arguments)]), env or {})


def event(tmp_path: Path, name: str, payload: str = "{}") -> dict[str, str]:
    file = tmp_path / "event.json"
    file.write_text(payload, encoding="utf-8")
    return {**PUSH, "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file)}


def test_save_appends_and_keeps_the_newest_rounds(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = store(tmp_path, {"a": [True, False]})
    second = store(tmp_path, {"a": [True, True]}, number=2)
    assert gate("save", first) == 0
    assert gate("save", second) == 0
    file = work / "baselines" / "analytics.json"
    stored = parse(file.read_bytes(), "x")
    assert stored.table.column("success").tolist() == [[0, 1, 1]]
    assert [(run.session_id, run.kept) for run in stored.runs] == [
        ("20261119-120001-0123abcd", 1),
        ("20261119-120002-0123abcd", 2),
    ]
    told, todo = capsys.readouterr().out.splitlines()[-2:]
    assert told == f"{Path('baselines') / 'analytics.json'}: 3 rounds of 2 runs, 1 case"
    assert todo == "Next: git add baselines && git commit - runs compare with the committed file"
    assert [path.name for path in file.parent.iterdir()] == ["analytics.json"]


def test_save_takes_the_latest_session_of_results(work: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="results: no session with a verdict found here"):
        gate("save")
    for number in (1, 2):
        store(work / "results", {"a": [True]}, number=number)
    assert gate("save") == 0
    stored = parse((work / "baselines" / "analytics.json").read_bytes(), "x")
    assert [run.session_id for run in stored.runs] == ["20261119-120002-0123abcd"]


def test_save_finds_the_sessions_beside_a_gate_yml_above(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(work / "results", {"a": [True]})
    (work / ".git").mkdir(exist_ok=True)  # the search ends at the top of the repository
    (work / "deep").mkdir()
    monkeypatch.chdir(work / "deep")
    gate("save")
    assert (work / "baselines" / "analytics.json").exists()


def test_save_elsewhere_continues_the_repositorys_pool(work: Path, tmp_path: Path) -> None:
    gate("save", store(tmp_path, {"a": [True]}))
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "baseline")
    gate("save", store(tmp_path, {"a": [False]}, number=2), "--out", tmp_path / "new")
    stored = parse((tmp_path / "new" / "analytics.json").read_bytes(), "x")
    assert stored.table.column("success").tolist() == [[1, 0]]


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target", "merge_group"])
def test_save_is_refused_where_a_change_would_write_its_own_baseline(
    work: Path, tmp_path: Path, name: str
) -> None:
    session = store(tmp_path, {"a": [True]})
    env = event(tmp_path, name)
    with pytest.raises(UsageError, match=f"not allowed for event '{name}'"):
        gate("save", session, env=env)
    assert cli(["baseline", "save", str(session)], env) == 2
    assert not (work / "baselines").exists()
    assert gate("save", session, env=event(tmp_path, "push")) == 0


def test_a_release_writes_an_anchor_and_no_baseline(work: Path, tmp_path: Path) -> None:
    job = event(tmp_path, "release")
    with pytest.raises(UsageError, match="no other session does"):
        gate("save", store(tmp_path, {"a": [True]}), env=job)
    session = store(tmp_path, {"a": [True]}, number=2, mode="release")
    assert gate("save", session, env=job) == 0
    assert not (work / "baselines").exists()
    stored = parse((work / "gate-anchor" / "analytics.json").read_bytes(), "x")
    assert stored.anchor is not None
    assert (stored.anchor.header.kind, stored.anchor.header.wanted) == ("release", {})
    assert stored.anchor.table.column("success").tolist() == [[1]]
    with pytest.raises(UsageError, match="no other session does"):
        gate("save", session, env=event(tmp_path, "push"))


def test_accept_with_anchor_starts_another(work: Path, tmp_path: Path) -> None:
    gate("save", store(tmp_path, {"a": [True]}))
    file = work / "baselines" / "analytics.json"
    assert parse(file.read_bytes(), "x").anchor is not None
    gate("accept", "--reason", "other questions", "--anchor")
    assert parse(file.read_bytes(), "x").anchor is None
    gate("save", store(tmp_path, {"a": [False]}, number=2))
    anchor = parse(file.read_bytes(), "x").anchor
    assert anchor is not None
    assert [run.session_id for run in anchor.header.runs] == ["20261119-120002-0123abcd"]


def test_an_anchor_at_a_ref_is_the_baseline_that_stood_there(work: Path, tmp_path: Path) -> None:
    gate("save", store(tmp_path, {"a": [True]}))
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "baseline")
    git(work, "tag", "good")
    config = work / "gate.yml"
    config.write_text(config.read_text().replace("baseline: {", "baseline: {anchor: good, "))
    gate("save", store(tmp_path, {"a": [False]}, number=2))
    anchor = parse((work / "baselines" / "analytics.json").read_bytes(), "x").anchor
    assert anchor is not None
    assert (anchor.header.kind, anchor.header.name) == ("ref", "good")
    assert anchor.table.column("success").tolist() == [[1]]


def test_an_anchor_at_a_ref_without_a_baseline_is_refused(work: Path, tmp_path: Path) -> None:
    config = work / "gate.yml"
    config.write_text(config.read_text().replace("baseline: {", "baseline: {anchor: v9, "))
    with pytest.raises(UsageError, match=r"baseline.anchor: v9: no baseline of 'analytics' stands"):
        gate("save", store(tmp_path, {"a": [True]}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode": "pull_request"}, "measured by a pull request"),
        ({"event": "pull_request_target"}, "measured by a pull request"),
        ({"finished": False}, "the run did not finish; continue it with `gate run --resume"),
        ({"outcome": "error"}, "ended in an error"),
        ({"suite": "../up"}, "not a suite name"),
    ],
)
def test_save_refuses_what_is_no_baseline(
    work: Path, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    suite = str(changes.get("suite", "analytics"))
    if "/" in suite:  # the folder of a hostile session is not what its meta.json says
        session = store(tmp_path, {"a": [True]}, suite="up")
        for name in ("meta.json", "summary.json", "details.jsonl"):
            path = session / name
            path.write_text(path.read_text("utf-8").replace('"up"', '"../up"'), encoding="utf-8")
    else:
        session = store(tmp_path, {"a": [True]}, **changes)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=message):
        gate("save", session)
    assert not (work / "baselines").exists()


def test_save_refuses_the_same_session_twice_and_a_broken_pool(work: Path, tmp_path: Path) -> None:
    session = store(tmp_path, {"a": [True]})
    gate("save", session)
    with pytest.raises(UsageError, match="already in the baseline"):
        gate("save", session)
    (work / "baselines" / "analytics.json").write_text("{")
    with pytest.raises(UsageError, match=r"analytics\.json:1: incomplete JSON"):
        gate("save", store(tmp_path, {"a": [True]}, number=2))
    with pytest.raises(UsageError, match="--suite analytisc: not in this session - did you mean"):
        gate("save", session, "--suite", "analytisc")
    with pytest.raises(UsageError, match="not a session folder"):
        gate("save", tmp_path / "none")


def test_a_job_that_runs_again_adds_to_its_first_attempt(work: Path, tmp_path: Path) -> None:
    """Else the better of two runs of a commit could be chosen, by running the job again."""
    head, before = "a" * 40, "b" * 40
    gate("save", store(tmp_path, {"a": [True]}, number=1), "--out", tmp_path / "base")
    bad, lucky = (store(tmp_path, {"a": [n > 2]}, number=n, commit=head) for n in (2, 3))
    host = Artifacts(files={before: tmp_path / "base" / "analytics.json"})
    desk = open_desk(options(["baseline", "save"]), {})
    job = replace(desk.job, mode="main", event="push", head_sha=head, base_sha=before)
    opened = replace(desk.opened, forge=host)  # type: ignore[arg-type]
    desk = replace(desk, job=job, base_sha=before, opened=opened)
    for number, session in enumerate((bad, lucky)):
        out = tmp_path / f"out{number}"
        assert (
            baseline.save(options(["baseline", "save", str(session), "--out", str(out)]), desk) == 0
        )
        host.files[head] = out / "analytics.json"
    runs = parse(host.files[head].read_bytes(), "x").runs
    assert [run.session_id[14] for run in runs] == ["1", "2", "3"]
    with pytest.raises(UsageError, match="already in the baseline"):
        baseline.save(options(["baseline", "save", str(lucky), "--out", str(tmp_path / "c")]), desk)


def test_a_sample_does_not_remove_the_other_cases(work: Path, tmp_path: Path) -> None:
    gate("save", store(tmp_path, {"a": [True], "b": [True]}))
    gate("save", store(tmp_path, {"a": [False]}, number=2, not_selected=1))
    stored = parse((work / "baselines" / "analytics.json").read_bytes(), "x")
    assert stored.table.cases == ("a", "b")


def test_a_folder_that_cannot_be_written_is_told(work: Path, tmp_path: Path) -> None:
    (work / "taken").write_text("a file")
    with pytest.raises(UsageError, match=r"taken/analytics\.json: Not a directory"):
        gate("save", store(tmp_path, {"a": [True]}), "--out", "taken")


def test_pull_and_show(work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate("show") == 4
    assert gate("pull") == 4
    assert "repo: no baselines/analytics.json at " in capsys.readouterr().out
    gate("save", store(tmp_path, {"a\x1b[31m": [True, False]}))
    begins = "analytics: a new baseline begins (repo: no baselines/analytics.json at "
    assert begins in capsys.readouterr().out
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "baseline")
    assert gate("pull", "--out", tmp_path / "got") == 0
    saved = (work / "baselines" / "analytics.json").read_bytes()
    assert (tmp_path / "got" / "analytics.json").read_bytes() == saved
    capsys.readouterr()
    assert gate("show") == 0
    out = capsys.readouterr().out
    assert "analytics: 1 case, 2 rounds (baselines/analytics.json at " in out
    assert "20261119-120001-0123abcd   0000000  2026-11-19T12:00:01       2    2  pool" in out
    assert "  pool: 2 rounds of 1 run\n" in out
    assert "  session effect: unknown before 5 runs that can be compared\n" in out
    assert "agent.success_rate                                0.5" in out
    assert gate("show", "--baseline", str(tmp_path / "got")) == 0
    with pytest.raises(GateError, match="no such suite"):
        gate("show", "--suite", "nope")


def test_at_a_release_nothing_stands_in_for_the_one_before_it(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate("save", store(tmp_path, {"a": [True]}))
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "baseline")
    told = event(tmp_path, "push", '{"ref": "refs/tags/v1.0.0"}')
    assert gate("show", env=told) == 4
    assert "no earlier release is known" in capsys.readouterr().out
    assert gate("show", "--baseline", "baselines", env=told) == 0


def test_accept_records_who_when_why_and_starts_a_new_pool(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate("save", store(tmp_path, {"a": [True]}))
    assert gate("accept", "--reason", " new prices ", "--metric", "agent.success_rate") == 0
    file = work / "baselines" / "analytics.json"
    said = parse(file.read_bytes(), "x").accepted[0]
    assert (said.who, said.why) == ("Ana <a@example.test>", "new prices")
    assert said.metrics == ("agent.success_rate",)
    assert len(said.old_digest) == 64
    assert gate("show", "--baseline", "baselines") == 0
    assert "the next run starts a new baseline" in capsys.readouterr().out
    gate("save", store(tmp_path, {"a": [False]}, number=2))
    assert parse(file.read_bytes(), "x").table.column("success").tolist() == [[0]]


def test_accept_takes_the_actor_on_a_runner(work: Path, tmp_path: Path) -> None:
    gate("save", store(tmp_path, {"a": [True]}))
    env = {**event(tmp_path, "workflow_dispatch"), "GITHUB_ACTOR": "octocat"}
    assert gate("accept", "--reason", "x", "--suite", "analytics", env=env) == 0
    stored = parse((work / "baselines" / "analytics.json").read_bytes(), "x")
    assert stored.accepted[0].who == "octocat"


def test_accept_refuses(work: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no baseline file to update"):
        gate("accept", "--reason", "x")
    gate("save", store(tmp_path, {"a": [True]}))
    with pytest.raises(UsageError, match="--reason is empty"):
        gate("accept", "--reason", "  ")
    with pytest.raises(UsageError, match=r"did you mean 'agent\.success_rate'"):
        gate("accept", "--reason", "x", "--metric", "agent.succes_rate")
    with pytest.raises(UsageError, match="a pull request's run cannot accept"):
        gate("accept", "--reason", "x", env=event(tmp_path, "pull_request"))


def word(**changes: str | tuple[str, ...]) -> AcceptedChange:
    said = {"who": "ann", "when": "2026-11-19T11:00:00Z", "why": "new prices", **changes}
    return AcceptedChange(**said)


def test_what_the_merged_pull_request_was_given_starts_a_new_pool(
    work: Path, tmp_path: Path
) -> None:
    gate("save", store(tmp_path, {"a": [True]}))
    meant = (word(metrics=("agent.success_rate",)),)
    gate("save", store(tmp_path, {"a": [False]}, number=2, accepted=meant))
    stored = parse((work / "baselines" / "analytics.json").read_bytes(), "x")
    assert stored.table.column("success").tolist() == [[0]]
    (said,) = stored.accepted
    assert (said.who, said.when, said.why) == ("ann", "2026-11-19T11:00:00Z", "new prices")
    assert len(said.old_digest) == 64


def test_the_same_word_gives_up_values_only_once(work: Path, tmp_path: Path) -> None:
    gate("save", store(tmp_path, {"a": [True]}))
    for number in (2, 3):
        gate("save", store(tmp_path, {"a": [False]}, number=number, accepted=(word(),)))
    stored = parse((work / "baselines" / "analytics.json").read_bytes(), "x")
    assert stored.table.column("success").tolist() == [[0, 0]]
    assert len(stored.accepted) == 1


def test_a_suite_that_does_not_measure_what_was_accepted_keeps_its_pool(
    work: Path, tmp_path: Path
) -> None:
    gate("save", store(tmp_path, {"a": [True]}))
    meant = (word(metrics=("retrieval.mrr",)),)
    gate("save", store(tmp_path, {"a": [False]}, number=2, accepted=meant))
    stored = parse((work / "baselines" / "analytics.json").read_bytes(), "x")
    assert stored.accepted == ()
    assert stored.table.rounds == 2


def test_a_baseline_that_cannot_be_stored_as_an_artifact_is_no_success(
    work: Path, tmp_path: Path
) -> None:
    made = store(tmp_path, {"a": [True]})
    with pytest.raises(InfrastructureError, match="artifact 'gate-baseline' was not stored: only"):
        gate("save", made, "--upload-artifact", env={"GITHUB_SERVER_URL": "https://github.com"})
