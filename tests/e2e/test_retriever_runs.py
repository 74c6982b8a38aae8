"""`gate run` with a retriever: beside an agent, alone, recorded, and out of reach."""

import json
from http.server import BaseHTTPRequestHandler

import pytest

from tests.support.in_process import gate, run_command, run_session
from tests.support.loopback import listening
from tests.support.session_files import details_of, summary_of

RELEVANT = {"c1": "d1", "c2": "d2", "c3": "d3", "c4": "d4", "c5": "d5"}
AGENT = "def answer(case):\n    return {'answer': 'yes', 'retrieved': ['claimed']}\n"


class Search(BaseHTTPRequestHandler):
    """Knows every case but c5."""

    def do_POST(self):
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["query"]
        found = [{"id": "d0"}, {"id": RELEVANT[query]}] if query != "c5" else []
        body = json.dumps({"documents": found}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Silence."""


def project(folder, asked, graders="[{retrieval: {k: [2]}}]"):
    cases = [
        {"id": one, "input": one, "expected_answer": "yes", "relevant_doc_ids": [document]}
        for one, document in RELEVANT.items()
    ]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    suite = f"suites: [{{name: s, dataset: cases.jsonl, rounds: 1, graders: {graders}}}]\n"
    (folder / "gate.yml").write_text(f"version: 1\n{asked}\n{suite}", encoding="utf-8")


def metric(session, name):
    return summary_of(session)["suites"]["s"]["metrics"][name]["value"]


AGENT_KEY = "agent: {type: python, callable: './agent.py:answer'}\n"


def test_beside_an_agent_its_documents_are_graded_and_the_agents_answers(tmp_path):
    with listening(Search) as url:
        retriever = f"retriever: {{type: http, url: '{url}'}}"
        project(tmp_path, AGENT_KEY + retriever, "[exact_match, {retrieval: {k: [2]}}]")
        session = run_session(tmp_path)
    assert metric(session, "retrieval.recall@2") == pytest.approx(0.8)
    assert metric(session, "correctness.exact_match") == 1.0
    assert summary_of(session)["provenance"]["agent"].endswith(f", retriever http at {url}")
    assert {tuple(row["retrieved_ids"]) for row in details_of(session)} >= {("d0", "d1"), ()}


def test_alone_and_recorded_it_needs_no_agent(tmp_path):
    run_file = "".join(f"{one} Q0 {document} 1 9 me\n" for one, document in RELEVANT.items())
    (tmp_path / "run.txt").write_text(run_file.replace("c5 Q0 d5", "c9 Q0 d5"), encoding="utf-8")
    project(tmp_path, "retriever: {type: recorded, file: run.txt}", "[exact_match, retrieval]")
    checked = run_command(tmp_path, "validate")
    assert "retriever 'recorded'" in checked.stdout
    warned = checked.stdout + checked.stderr
    assert "'exact_match' would grade empty answers: a retriever alone returns no answer" in warned
    assert "'retrieval' gets" not in warned
    project(tmp_path, "retriever: {type: recorded, file: run.txt}")
    session = run_session(tmp_path)
    assert metric(session, "retrieval.recall@2") == pytest.approx(0.8)
    assert metric(session, "retrieval.mrr") == pytest.approx(0.8)


@pytest.mark.parametrize(("agent", "who"), [(AGENT_KEY, "agent"), ("", "retriever")])
def test_a_retriever_that_is_out_of_reach_is_named_with_its_setting(tmp_path, agent, who):
    with listening(Search) as url:
        pass
    project(tmp_path, agent + f"retriever: {{type: http, url: '{url}'}}")
    finished = gate(tmp_path, "run")
    assert finished.returncode == 6
    said = (finished.stdout + finished.stderr).replace("The ", "the ")
    assert f"the {who} cannot be reached: {url} refused the connection: start the retriever" in said


def test_a_broken_run_file_is_told_with_its_line(tmp_path):
    (tmp_path / "run.txt").write_text("c1 Q0 d1 1 high me\n", encoding="utf-8")
    project(tmp_path, "retriever: {type: recorded, file: run.txt}")
    finished = gate(tmp_path, "run")
    assert finished.returncode == 2
    assert "run.txt:1: the score (column 5) is not a finite number" in finished.stderr
