"""Runs against a server that speaks as OpenAgent does: codes, health, evidence, a provider key."""

import json

from tests.support.chat_server import answer
from tests.support.in_process import gate
from tests.support.raw_server import RawServer
from tests.support.session_files import sessions_in

TASK = "Write ./scratch/note.md"
GATE = """version: 1
agent: {{type: openagent, base_url: "{url}", model: m, concurrency: 4,
        api_key_env: OPENAGENT_PROVIDER_KEY}}
suites:
  - {{name: tool, dataset: cases.jsonl, graders: [tool_evidence], rounds: 1, max_attempts: 1}}
protect: false
"""
CASES = [
    {
        "id": f"t/{n}",
        "input": f"{TASK} {n}",
        "required_tools": ["shell"],
        "output_requirements": {"must_be_valid_json": True},
    }
    for n in range(6)
]
OK = {"status": "ok", "msg": "", "data": None, "data2": None}
ILL = {**OK, "status": "error", "msg": "the database is gone"}


def server(health, log=None):
    """Task 0 ends in an error body, task 1 in a page; the others run their tool, and say so."""

    def said(body):
        task = body["messages"][0]["content"]
        if task.endswith("0"):
            return {"status": "error", "msg": "the model crashed", "data": None}
        if task.endswith("1"):
            return "<html>"
        with log.open("a") as out:
            out.write("Tool Call: [shell]\n")
        return answer(json.dumps({"evidence": {"tool_calls": [{"name": "shell"}]}, "did": task}))

    def handler(peer):
        while (request := peer.request()) is not None:
            found = health if request[0].startswith("GET") else said(json.loads(request[2]))
            peer.answer((found if isinstance(found, str) else json.dumps(found)).encode())

    return RawServer(handler)


def run(folder, url):
    (folder / "gate.yml").write_text(GATE.format(url=url))
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    key = {"OPENAGENT_PROVIDER_KEY": "sk-a-provider-key-of-nobody"}
    done = gate(folder, "run", "--baseline", "none", "--record", "answers.jsonl", env=key)
    (session,) = sessions_in(folder)
    return done, session


def read(session, name):
    return json.loads((session / name).read_text("utf-8"))


def test_codes_evidence_and_the_warning_stand_in_the_session(tmp_path):
    log = tmp_path / "openagent_console.log"
    log.write_text("Tool Call: [before]\n")
    with server(OK, log) as peer:
        done, session = run(tmp_path, peer.url)
    summary = read(session, "summary.json")
    health = read(session, "meta.json")["health"]
    assert (health["ok"], health["status"], health["error"]) == (True, 200, "")
    assert health["latency_ms"] > 0
    assert summary["suites"]["tool"]["failures_top"] == [["api_error", 1], ["parse_error", 1]]
    rows = [json.loads(line) for line in (session / "details.jsonl").read_text().splitlines()]
    assert [row["passed"] for row in rows] == [False, False, True, True, True, True]
    assert {row["evidence"]["verdict"] for row in rows[2:]} == {"complete"}
    assert [row["question"] for row in rows] == [case["input"] for case in CASES]
    assert f"{session.resolve().as_posix()}/.tasks/t-2-1/scratch/note.md" in rows[2]["output"]
    warned = [note for note in summary["notes"] if "provider key" in note]
    assert len(warned) == 1
    assert done.stderr.startswith(f"warning: {warned[0]}")
    lines = (tmp_path / "answers.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line).get("code") for line in lines} == {None, "api_error", "parse_error"}
    again = gate(tmp_path, "run", "--baseline", "none", "--replay", "answers.jsonl")
    assert "provider key" not in again.stderr
    (other,) = set(sessions_in(tmp_path)) - {session}
    replayed = read(other, "summary.json")["suites"]["tool"]
    assert replayed["failures_top"] == summary["suites"]["tool"]["failures_top"]


def test_a_server_that_says_it_is_ill_is_not_asked(tmp_path):
    with server(ILL) as peer:
        done, session = run(tmp_path, peer.url)
    assert done.returncode == 6
    health = read(session, "meta.json")["health"]
    assert (health["ok"], health["status"]) == (False, None)
    assert "the database is gone" in health["error"]
    assert "sk-a-provider" not in done.stdout + done.stderr
