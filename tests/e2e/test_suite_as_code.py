"""A suite written as code, run as docs/suite-as-code.md shows it."""

import re

from tests.support.chat_server import ChatServer
from tests.support.in_process import output_of, run_session
from tests.support.paths import ROOT
from tests.support.session_files import details_of, summary_of

PAGE = (ROOT / "docs" / "suite-as-code.md").read_text(encoding="utf-8")
CODE, _ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
CONFIG, _, NATIVE = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
(TASKS,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
KEYS = {"MY_KEY": "sk-of-the-agent"}


def answers(question, nth):
    return {"France": "It is Paris.", "Japan": "Tokyo", "Peru": "Cusco"}[question.split()[-1][:-1]]


def project(folder, config=CONFIG, code=CODE):
    (folder / "my_suite.py").write_text(code)
    (folder / "capitals.jsonl").write_text(TASKS)
    (folder / "gate.yml").write_text(config + "protect: false\n")


def native():
    return CONFIG[: CONFIG.index("suites:")] + NATIVE


def env(server):
    return {**KEYS, "AGENT_URL": server.url}


def told(session):
    """What both ways must agree on."""
    return [
        (row["case_id"], row["round"], row["passed"], row["failures"], row["output"], row["usage"])
        for row in details_of(session)
    ]


def test_both_ways_of_the_page_give_the_same_verdict(tmp_path):
    sessions = {}
    for way, config in (("code", CONFIG), ("native", native())):
        (tmp_path / way).mkdir()
        project(tmp_path / way, config)
        with ChatServer(answers) as server:
            sessions[way] = run_session(tmp_path / way, env=env(server))
            assert server.calls == 9
    assert told(sessions["code"]) == told(sessions["native"])
    code, other = (summary_of(sessions[way])["suites"]["capitals"] for way in ("code", "native"))
    assert code["failures_top"] == other["failures_top"] == [["text_missing:Lima", 3]]
    assert code["success_rate_ci95"] == other["success_rate_ci95"]
    assert code["outcome"] == other["outcome"]
    assert "sk-of-the-agent" not in (sessions["code"] / "details.jsonl").read_text()


def test_it_is_recorded_replayed_resumed_compared_and_planned(tmp_path):
    project(tmp_path)
    more = "[{'id': f'n{n}', 'prompt': 'of Japan?', 'capital': 'Tokyo'} for n in range(60)]"
    (tmp_path / "my_suite.py").write_text(CODE.replace("return [", f"return {more} + [", 1))
    with ChatServer(answers) as server:
        first = run_session(tmp_path, "--record", "kept.jsonl", env=env(server))
        assert server.calls == 3 * 63
        assert run_session(tmp_path, "--resume", str(first), env=env(server)) == first
        assert server.calls == 3 * 63
    output_of(tmp_path, "baseline", "save", str(first))
    replayed = run_session(tmp_path, "--replay", "kept.jsonl", env=KEYS)
    assert told(replayed) == told(first)
    assert summary_of(replayed)["comparisons"][0]["n_paired"] == 63
    assert summary_of(replayed)["outcome"] == "pass"
    with ChatServer(lambda question, nth: "Kyoto") as server:
        failed = run_session(tmp_path, env=env(server), code=1)
        assert server.calls < 3 * 63
    assert "text_missing:Tokyo" in (failed / "report.md").read_text("utf-8")
    assert "63 cases" in output_of(tmp_path, "plan", env=KEYS)
