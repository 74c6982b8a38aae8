"""What main answered, on its way into a pull request's comment: as an artifact, and as a file of
the base commit; and who must not see it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from gate.commands import comment
from gate.commands.options.all import parse
from gate.store.baseline.answers import unpack
from tests.support.action_runs import act
from tests.support.github_server import HEAD, REPOSITORY, REPOSITORY_ID, GitHub
from tests.support.in_process import gate, run_command
from tests.support.paths import copy_a_third
from tests.support.proxy_server import needs_openssl, server_context, signed_by_itself
from tests.support.raw_server import Peer, RawServer, ok
from tests.support.runner import BASE

CONFIG = """version: 1
agent: {type: sample, options: {top_k: 5}}
suites:
  - {name: s, dataset: d.jsonl, graders: [facts], rounds: 1}
"""
PAGE = "https://octo.github.io/demo/reports/7/report.html"
HEADS = "| Newly failing | asked | expected | before | now |"
FORK = "mallory/demo"


def measure_main(folder: Path, more: str = "", kept: str = "kept") -> None:
    """gate.yml, the cases, and in `kept` what main's run leaves; the agent of the pull request
    finds one document instead of five.
    """
    copy_a_third(folder / "d.jsonl")
    (folder / "gate.yml").write_text(CONFIG + more, encoding="utf-8")
    assert gate(folder, "run", "--baseline", "none", "--stop", "off").returncode in (0, 1)
    (measured,) = (folder / "results").glob("session-*")
    run_command(folder, "baseline", "save", str(measured), "--out", kept)
    shutil.rmtree(folder / "results")
    worse = (CONFIG + more).replace("top_k: 5", "top_k: 1")
    (folder / "gate.yml").write_text(worse, encoding="utf-8")


def put_on_main(folder: Path, github: GitHub, more: str = "") -> None:
    """Rules and cases of the base commit."""
    github.contents[BASE, "gate.yml"] = (CONFIG + more).encode()
    github.contents[BASE, "d.jsonl"] = (folder / "d.jsonl").read_bytes()
    own = {"id": 7, "head_sha": HEAD, "head_branch": "topic", "event": "pull_request"}
    github.runs.append({**own, "workflow_id": 1, "path": "g.yml"})


@dataclass
class Store:
    """Where GitHub keeps artifacts: elsewhere, and encrypted."""

    url: str = ""
    zipped: bytes = b""

    def __call__(self, peer: Peer) -> None:
        while peer.request() is not None:
            peer.send(ok(self.zipped, "Content-Type: application/zip"))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    (tmp_path / "tls").mkdir()
    certificate = signed_by_itself(tmp_path / "tls")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    made = Store()
    with RawServer(made, server_context(certificate)) as running:
        made.url = running.url
        yield made


def upload(github: GitHub, store: Store, kept: Path) -> None:
    """The artifact of main's run at the base commit."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for file in kept.iterdir():
            archive.writestr(file.name, file.read_bytes())
    created = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    same = {"id": REPOSITORY_ID}
    github.runs.append(
        {
            **{"id": 5, "head_sha": BASE, "head_branch": "main", "event": "push"},
            **{"status": "completed", "conclusion": "success", "created_at": created},
            **{"html_url": "https://github.example/octo/demo/actions/runs/5", "path": "b.yml"},
            **{"repository": same, "head_repository": same, "workflow_id": 2},
        }
    )
    digest = f"sha256:{hashlib.sha256(buffer.getvalue()).hexdigest()}"
    artifact = {"id": 105, "name": "gate-baseline", "expired": False, "created_at": created}
    github.artifacts[5] = [{**artifact, "digest": digest}]
    github.stores[105] = f"{store.url}/kept.zip"
    store.zipped = buffer.getvalue()


def stored(kept: Path) -> dict[str, str]:
    answers = unpack((kept / "s.answers.jsonl.gz").read_bytes(), "kept")
    return {one.case_id: " ".join((one.text or "").split()) for one in answers}


def rows_of(body: str, head: str = HEADS) -> list[list[str]]:
    """The cells of the failing cases in a comment."""
    assert head in body, body[:3_000]
    _, *lines = body.split(f"{head}\n")[1].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def check_rows(body: str, kept: Path) -> None:
    """Each of the five has its question and expectation, and what main answered before."""
    rows, before = rows_of(body), stored(kept)
    assert len(rows) == 5
    for case, asked, expected, was, now in rows:
        name = re.search(r"`([\w-]+)`", case)
        assert name is not None
        assert before[name[1]].startswith(was.strip("`").rstrip("…"))
        assert asked.startswith("`")
        assert expected.startswith("`")
        assert now.startswith(("`", "the same; "))


@needs_openssl
def test_answers_come_with_the_artifact_of_main(
    github: GitHub, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    more = 'report: {url: "https://octo.github.io/demo/reports/${GITHUB_RUN_ID}/report.html"}\n'
    measure_main(tmp_path, more)
    put_on_main(tmp_path, github, more)
    upload(github, store, tmp_path / "kept")
    own = (tmp_path / "gate.yml").read_text("utf-8").replace("octo.github.io", "evil.example")
    (tmp_path / "gate.yml").write_text(own, encoding="utf-8")  # the base's address counts
    assert act(tmp_path, github, baseline="artifact") == 1
    (posted,) = github.comments
    check_rows(posted["body"], tmp_path / "kept")
    for case, *_ in rows_of(posted["body"]):
        assert re.match(rf"\[`[\w-]+`\]\({re.escape(PAGE)}#case=s%2F[\w-]+\) 1/1", case), case
    assert f"[report]({PAGE})" in posted["body"]


def test_answers_are_read_from_the_base_commit(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those that the pull request has put into its own checkout."""
    monkeypatch.chdir(tmp_path)
    more = "baseline: {answers: repo}\n"
    measure_main(tmp_path, more, kept="baselines")
    put_on_main(tmp_path, github, more)
    shutil.copytree("baselines", "main")
    for file in sorted(Path("baselines").iterdir()):
        github.contents[BASE, file.as_posix()] = file.read_bytes()
    Path("baselines/s.answers.jsonl.gz").write_bytes(b"forged")
    assert act(tmp_path, github, baseline="repo") == 1
    check_rows(github.comments[0]["body"], tmp_path / "main")
    asked = [one for one in github.seen if one.path.endswith("s.answers.jsonl.gz")]
    assert [one.query["ref"] for one in asked] == [BASE]


@needs_openssl
def test_a_case_without_a_stored_answer_says_so(
    github: GitHub, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    measure_main(tmp_path)
    put_on_main(tmp_path, github)
    (tmp_path / "kept" / "s.answers.jsonl.gz").unlink()
    upload(github, store, tmp_path / "kept")
    assert act(tmp_path, github, baseline="artifact") == 1
    assert {was for *_, was, _ in rows_of(github.comments[0]["body"])} == {"no stored answer"}


@needs_openssl
def test_answers_false_shows_neither(
    github: GitHub, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    more = "report: {answers: false}\n"
    measure_main(tmp_path, more)
    put_on_main(tmp_path, github, more)
    upload(github, store, tmp_path / "kept")
    # The pull request asks for them in its own file: the base's word counts.
    (tmp_path / "gate.yml").write_text(CONFIG.replace("top_k: 5", "top_k: 1"), encoding="utf-8")
    assert act(tmp_path, github, baseline="artifact") == 1
    body = github.comments[0]["body"]
    assert len(rows_of(body, "| Newly failing | asked | now |")) == 5
    assert not any(answer in body for answer in stored(tmp_path / "kept").values() if answer)


@needs_openssl
@pytest.mark.parametrize("private", [True, False])
def test_a_fork_of_a_private_repository_sees_neither(
    github: GitHub, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    """Neither from its own run nor from the second workflow, which publishes its session."""
    monkeypatch.chdir(tmp_path)
    measure_main(tmp_path)
    put_on_main(tmp_path, github)
    upload(github, store, tmp_path / "kept")
    fork = {"full_name": FORK, "id": 99, "fork": True}
    head = {"sha": HEAD, "ref": "topic", "repo": fork}
    github.pulls = [{"number": 3, "label": "mallory:topic", "head": head, "state": "open"}]
    repository = {"full_name": REPOSITORY, "id": REPOSITORY_ID, "private": private}
    pull = {"number": 3, "head": head, "base": {"sha": BASE, "ref": "main"}}
    told: dict[str, Any] = {"pull_request": pull, "repository": repository}
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    first.write_text(json.dumps(told), encoding="utf-8")
    env = {"GITHUB_EVENT_PATH": str(first), "INPUT_CHECK-RUN": "false"}
    assert act(tmp_path, github, env=env, baseline="artifact", comment="never") == 1
    run = {
        **{"event": "pull_request", "head_sha": HEAD, "head_branch": "topic", "id": 7},
        **{"head_repository": {"full_name": FORK}, "pull_requests": [], "run_attempt": 1},
    }
    second.write_text(json.dumps({"workflow_run": run, "repository": repository}), encoding="utf-8")
    (session,) = (tmp_path / "results").glob("session-*")
    publisher = {
        **{"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": str(second)},
        **{"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_API_URL": github.url},
        **{"GITHUB_SERVER_URL": "https://github.example", "GITHUB_TOKEN": "ghs_second"},
    }
    assert comment.run(parse(["comment", str(session)]), publisher) == 0
    body = github.comments[0]["body"]
    if not private:
        check_rows(body, tmp_path / "kept")
        return
    assert len(rows_of(body, "| Newly failing | asked | now |")) == 5
    whole = body + (session / "comment.md").read_text("utf-8")
    assert not any(answer in whole for answer in stored(tmp_path / "kept").values() if answer)
    assert not (session / "s" / "baseline.answers.jsonl.gz").exists()
