"""WebArena's tasks in `gate run`: recorded answers with a judge and without, and the live recipe
around a browser loop that only pretends.
"""

import json
import re
import shutil
import sys

import pytest

from tests.support.chat_server import ChatServer
from tests.support.in_process import gate
from tests.support.paths import ROOT

EXAMPLES = ROOT / "tests" / "data" / "imports" / "webarena"
RECIPE = ROOT / "examples" / "agents" / "webarena_agent.py"
SITES = 'sites={"shopping": "http://shop.example:7770", "map": "http://map.example:3000"}'
SUITE = """
suites:
  - {name: webarena, dataset: webarena.jsonl, graders: [webarena], rounds: 1}
gates: {webarena.success_rate: {min: 0.1}}
"""
LOOP = '''
"""A browser that has the pages of one shop, and an agent that knows where it wants to go."""
SHOP = "http://shop.example:7770"
ENDS = {"0": (f"{SHOP}/blue-kettle", "It has 4."), "2": (f"{SHOP}/basket", "Done."),
        "5": (f"{SHOP}/harbour", "")}


class Page:
    url = SHOP

    def goto(self, url):
        self.url = url

    def content(self):
        return "<h1>Harbour Shop</h1>"

    def evaluate(self, js):
        assert js == "() => document.querySelector('.quantity').value"
        return 2


def run(task):
    assert "eval" not in task, "the agent would know what it is judged by"
    if task["id"] == "3":
        raise RuntimeError("the map is gone")
    print("noise of a library")
    page = Page()
    page.url, said = ENDS.get(task["id"], (SHOP, "N/A"))
    return {"answer": said, "page": page, "steps": [{"name": "goto", "arguments": {}}]}
'''


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(EXAMPLES, tmp_path / "webarena")
    answers, tasks = "webarena/answers.jsonl", "webarena/tasks.json"
    options = ("--option", SITES)
    for words in (
        (answers, *options, "-o", f"tasks={tasks}", "--out", "old", "--recording", "rec.jsonl"),
        (tasks, *options, "--dataset", "webarena.jsonl"),
    ):
        done = gate(tmp_path, "import", "webarena", *words)
        assert done.returncode == 0, done.stderr
    return tmp_path


def ran(folder, config, *arguments):
    (folder / "gate.yml").write_text(f"version: 1\n{config}{SUITE}", encoding="utf-8")
    done = gate(folder, "run", "--baseline", "none", "--out", "new", *arguments)
    (session,) = (folder / "new").glob("session-*")
    summary = json.loads((session / "summary.json").read_text("utf-8"))
    rows = map(json.loads, (session / "details.jsonl").read_text("utf-8").splitlines())
    metrics = summary["suites"]["webarena"]["metrics"]
    rates = [metrics[f"webarena.{name}_rate"]["value"] for name in ("success", "not_evaluable")]
    return done, rates, {row["case_id"]: row["failures"] for row in rows}


def verdict(asked, nth):
    """By plain rules: a duration in words is that in figures."""
    system, user = (message["content"] for message in json.loads(asked)[-2:])
    canary = re.search(r"`canary`: ([0-9a-f]{16})", system)
    right = "ninety minutes" in user and "1h 30min" in user
    told = {"reason": "by its words", "verdict": "correct" if right else "incorrect"}
    return json.dumps({**told, "addressed_judge": False, "canary": canary[1]})


def test_recorded_answers_come_to_the_rate_that_their_judge_gives_them(folder):
    with ChatServer(verdict, read=json.dumps) as judge:
        section = (
            f'agent: {{type: sample}}\njudge: {{type: openai, base_url: "{judge.url}", model: m}}'
        )
        done, rates, failures = ran(folder, section, "--replay", "rec.jsonl")
        assert judge.calls == 1, "the other answers need none"
    assert done.returncode == 0, done.stdout + done.stderr
    assert rates == [pytest.approx(4 / 6), 0.0]
    assert failures == {
        "0": [],
        "1": [],
        "2": ["page_mismatch:0"],
        "3": [],
        "4": [],
        "5": ["agent_error"],
    }


def test_without_a_judge_what_allows_other_words_fails_and_is_told_apart(folder):
    done, rates, failures = ran(folder, "agent: {type: sample}", "--replay", "rec.jsonl")
    assert done.returncode == 0, done.stdout + done.stderr
    assert rates == [pytest.approx(3 / 6), pytest.approx(1 / 6)]
    assert failures["3"] == ["not_evaluable"]


def test_the_recipe_runs_a_loop_and_looks_at_the_pages_that_count(folder):
    (folder / "my_loop.py").write_text(LOOP, encoding="utf-8")
    words = [sys.executable, str(RECIPE), "--loop", "my_loop:run", "--settle", "0"]
    agent = f"agent: {{type: command, command: {json.dumps(words)}, concurrency: 2}}"
    done, rates, failures = ran(folder, agent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert failures == {
        "0": [],
        "1": ["url_mismatch"],
        "2": [],
        "3": ["agent_error"],
        "4": [],
        "5": [],
    }
    assert rates == [pytest.approx(4 / 6), 0.0]
