"""`gate run` with a judge that works, that is out of reach, and that talks in prose."""

import json

import pytest

from tests.support.chat_server import ChatServer
from tests.support.in_process import gate
from tests.support.paths import ANALYTICS
from tests.support.rule_judge import rule_judge
from tests.support.session_files import sessions_in

REFUSED = (401, {}, {"error": {"message": "Incorrect API key provided"}})


def project(folder, url, options=""):
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: sample, concurrency: 16, options: {{{options}}}}}
judge: {{type: openai, base_url: "{url}", model: rules, timeout_s: 5}}
suites:
  - name: analytics
    dataset: {ANALYTICS}
    graders: [facts, {{judge: {{rubric: answer}}}}]
    rounds: 1
gates: {{correctness.faithfulness: {{min: 4}}}}
""",
        encoding="utf-8",
    )


def run(folder, *arguments):
    done = gate(folder, "run", "--baseline", "none", *arguments)
    (session,) = sessions_in(folder)
    return done, session


def test_a_reviewer_sees_which_answers_the_judge_scored_low_and_why(tmp_path):
    with rule_judge() as judge:
        project(tmp_path, judge.url, "hallucinate: 0.6")
        done, session = run(tmp_path, "--sample", "40")
    summary = json.loads((session / "summary.json").read_text("utf-8"))
    (worse,) = summary["worse"]
    assert (worse["metric"], worse["fell"]) == ("correctness.faithfulness", False)
    case = worse["worst"][0]
    assert (case["current"], case["reason"]) == (1.0, "by its figures")
    for told in (done.stdout, *((session / f).read_text("utf-8") for f in FILES)):
        assert case["case_id"] in told
        assert "by its figures" in told
    assert f"--case {case['case_id']}" in done.stdout


FILES = ("comment.md", "report.md", "report.html")


@pytest.mark.parametrize(
    ("reply", "why", "again"),
    [(REFUSED, "Incorrect API key", True), ("It is a fine answer.", "no JSON object", False)],
)
def test_a_judge_that_scores_nothing_is_an_error_that_says_why(tmp_path, reply, why, again):
    with ChatServer(lambda question, nth: reply, read=json.dumps) as judge:
        project(tmp_path, judge.url)
        done, session = run(tmp_path, "--sample", "12")
    assert done.returncode == 6, done.stdout + done.stderr
    assert why in done.stdout.splitlines()[-2]
    with rule_judge() as judge:
        project(tmp_path, judge.url)
        done, session = run(tmp_path, "--sample", "12", "--resume", str(session))
    assert done.returncode == (0 if again else 6), done.stdout + done.stderr
    rows = (session / "details.jsonl").read_text("utf-8").splitlines()
    assert len(rows) == 12
