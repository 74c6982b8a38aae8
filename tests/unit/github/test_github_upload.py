"""Storing a folder as an artifact from inside the container, and every way to be refused."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

import pytest

from gate.github.request_with_retry import Time
from gate.github.unpack import unpack
from gate.github.upload import BLOCK_BYTES, Uploaded, upload_folder
from tests.support.artifact_service import SECRET, ArtifactService, storing
from tests.support.github_server import Answer

NAME = "gate-session-1"


@pytest.fixture
def service() -> Iterator[ArtifactService]:
    with storing(ArtifactService()) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "session"
    (made / "control").mkdir(parents=True)
    (made / "meta.json").write_bytes(b"{}")
    (made / "control" / "events.jsonl").write_bytes(b"event\n" * 1000)
    return made


def upload(folder: Path, env: Mapping[str, str], name: str = NAME) -> Uploaded:
    clock = Time(sleep=lambda seconds: None)
    return upload_folder(folder, name, env, clock=clock, http_on_loopback=True)


def calls(service: ArtifactService) -> list[str]:
    return [line.split("?")[0].rsplit("/", 1)[1] for line, _ in service.seen]


def test_the_zip_its_size_and_its_digest_arrive(service: ArtifactService, folder: Path) -> None:
    done = upload(folder, service.job())
    stored = service.blobs[f"/blob/{NAME}"]
    digest = f"sha256:{hashlib.sha256(stored).hexdigest()}"
    assert done == Uploaded(name=NAME, size=len(stored), digest=digest, artifact_id="77")
    told = service.artifacts[NAME]
    assert (told["size"], told["hash"]) == (str(len(stored)), digest)
    owner = (told["workflow_run_backend_id"], told["workflow_job_run_backend_id"])
    assert owner == ("run-1", "job-1")
    names = ("meta.json", "control/events.jsonl")
    assert unpack(stored, names, source="it") == {
        "meta.json": b"{}",
        "control/events.jsonl": b"event\n" * 1000,
    }


def test_a_large_folder_travels_in_blocks_that_are_put_together_in_order(
    service: ArtifactService, folder: Path
) -> None:
    noise = hashlib.shake_256(b"noise").digest(2 * BLOCK_BYTES + 5)
    (folder / "noise").write_bytes(noise)
    done = upload(folder, service.job())
    assert done.note == ""
    assert len(service.blocks) == 3
    with zipfile.ZipFile(BytesIO(service.blobs[f"/blob/{NAME}"])) as archive:
        assert archive.read("noise") == noise


def test_the_store_of_blobs_never_gets_the_token(service: ArtifactService, folder: Path) -> None:
    upload(folder, service.job())
    for line, headers in service.seen:
        assert ("authorization" in headers) == line.startswith("POST")


def test_an_artifact_that_this_job_stored_is_replaced(
    service: ArtifactService, folder: Path
) -> None:
    service.had(NAME)
    service.linger = 2
    done = upload(folder, service.job())
    assert done.artifact_id == "77"
    assert [artifact["database_id"] for artifact in service.deleted] == ["1"]
    created = [call for call in calls(service) if call == "CreateArtifact"]
    assert len(created) == 4


def test_another_jobs_artifact_is_left_alone_but_for_a_re_run(
    service: ArtifactService, folder: Path
) -> None:
    service.had(NAME, workflow_job_run_backend_id="job-of-the-matrix")
    refused = upload(folder, service.job())
    assert "another job of this run has stored an artifact" in refused.note
    assert service.deleted == []
    assert upload(folder, service.job(GITHUB_RUN_ATTEMPT="2")).artifact_id == "77"


def test_a_name_that_stays_taken_ends_the_try(service: ArtifactService, folder: Path) -> None:
    service.linger = 99
    assert "answered 409: it exists" in upload(folder, service.job()).note
    assert "DeleteArtifact" not in calls(service)


def test_passing_troubles_are_waited_out(service: ArtifactService, folder: Path) -> None:
    service.faults = [
        ("CreateArtifact", Answer(503)),
        ("comp=block&", Answer(500)),
        ("comp=blocklist", Answer(429, {}, {"Retry-After": "1"})),
        ("FinalizeArtifact", Answer(502, b"<html>")),
    ]
    assert upload(folder, service.job()).note == ""
    assert service.faults == []


@pytest.mark.parametrize(
    ("part", "answer", "why"),
    [
        ("CreateArtifact", Answer(403, {"msg": "no\n::error::x"}), "answered 403: no ::error::x"),
        ("CreateArtifact", Answer(200, b"<html>"), "something other than JSON"),
        ("CreateArtifact", Answer(200, {"ok": False}), "an address that is not https"),
        ("CreateArtifact", Answer(307, None, {"Location": "/x"}), "a redirect"),
        ("comp=block&", Answer(403, b"<Error/>"), "the store of artifacts answered 403"),
        (
            "FinalizeArtifact",
            Answer(200, {"ok": False, "artifact_id": "1"}),
            "rejected the artifact",
        ),
    ],
)
def test_a_refusal_is_told_and_ends_nothing(
    service: ArtifactService, folder: Path, part: str, answer: Answer, why: str
) -> None:
    service.faults = [(part, answer)]
    done = upload(folder, service.job())
    assert why in done.note
    assert done.note.endswith(f"; store {folder} with actions/upload-artifact")
    assert (done.artifact_id, done.size) == ("", 0)


def test_no_message_holds_the_token_or_a_signature(service: ArtifactService, folder: Path) -> None:
    token = service.job()["ACTIONS_RUNTIME_TOKEN"]
    service.faults = [("CreateArtifact", Answer(403, {"msg": f"{token} may not"}))]
    echoed = upload(folder, service.job())
    service.store = "http://127.0.0.1:9"
    unreachable = upload(folder, service.job())
    assert "*** may not" in echoed.note
    assert "the store of artifacts cannot be reached (no connection)" in unreachable.note
    assert not [secret for secret in (token, SECRET) if secret in echoed.note + unreachable.note]


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({"GITHUB_SERVER_URL": "https://ghe.example"}, "GitHub Enterprise Server has no"),
        ({"ACTIONS_RUNTIME_TOKEN": ""}, "only a container action gets"),
        ({"ACTIONS_RESULTS_URL": ""}, "only a container action gets"),
        ({"ACTIONS_RESULTS_URL": "http://results.example"}, "not an https address"),
        ({"ACTIONS_RUNTIME_TOKEN": "opaque"}, "does not name its run"),
        ({"ACTIONS_RUNTIME_TOKEN": "a.W10.c"}, "does not name its run"),
        ({"ACTIONS_RUNTIME_TOKEN": "a.eyJzY3AiOiAiQSBCOmMifQ.c"}, "does not name its run"),
    ],
)
def test_where_nothing_can_be_stored_nothing_is_asked(
    service: ArtifactService, folder: Path, env: dict[str, str], why: str
) -> None:
    assert why in upload(folder, service.job(**env)).note
    assert service.seen == []


@pytest.mark.parametrize("server", ["https://acme.ghe.com", "https://x.localhost", ""])
def test_githubs_own_hosts_have_the_service(
    service: ArtifactService, folder: Path, server: str
) -> None:
    assert upload(folder, service.job(GITHUB_SERVER_URL=server)).artifact_id == "77"


@pytest.mark.parametrize("sign", ['"', ":", "<", ">", "|", "*", "?", "\r", "\n", "\\", "/"])
def test_a_name_that_github_refuses_is_not_sent(
    service: ArtifactService, folder: Path, sign: str
) -> None:
    assert f"cannot contain {sign!r}" in upload(folder, service.job(), f"a{sign}b").note
    assert "is empty" in upload(folder, service.job(), "").note
    assert service.seen == []


def test_plain_http_is_for_tests_only(service: ArtifactService, folder: Path) -> None:
    assert "not an https address" in upload_folder(folder, NAME, service.job()).note


def test_a_folder_without_files_or_none_at_all_is_told(
    service: ArtifactService, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    assert "has no files" in upload(tmp_path / "empty", service.job()).note
    assert "has no files" in upload(tmp_path / "absent", service.job()).note


def test_a_file_is_no_folder(service: ArtifactService, folder: Path) -> None:
    assert "has no files" in upload(folder / "meta.json", service.job()).note


@pytest.mark.skipif(not Path("/proc/self/fdinfo").is_dir(), reason="there is no /proc")
def test_a_disk_that_refuses_is_told(service: ArtifactService) -> None:
    done = upload(Path("/proc/self/fdinfo"), service.job())
    assert "No such file" in done.note
    assert service.seen == []
