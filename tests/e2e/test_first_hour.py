"""docs/first-hour.md and the README, played in an empty folder: the commands of the page, one after
the other. Each output that a page shows is compared with what the command printed, but for digits.
How long each command took is told at the end of the tests.
"""

import json
import os
import re
import shlex
import subprocess
import time
from http.server import BaseHTTPRequestHandler

import pytest
import yaml

from gate.commands.init import render_files
from tests.support.in_process import gate
from tests.support.loopback import listening
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "first-hour.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(sh|text|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATEMENT = re.compile(r"^gate [^&\n]*|^.*<<'END'\n(?:.*\n)*?END$|^[^&\n]+", re.MULTILINE)
MOST_COMMANDS = 8
MOST_LINES, MOST_WORDS = 15, 700  # of the README: to the verdict; in all

GOOD = {
    "delivery": ("Delivery takes 3 days.", "shipping"),
    "return": ("You may return shoes for 30 days.", "returns"),
    "gift": ("A gift card is valid for 24 months.", "gift-cards"),
    "express": ("Express delivery costs 9 EUR.", "shipping"),
    "repair": ("A repair takes 2 weeks.", "repairs"),
}
BROKEN = {
    **GOOD,
    "return": ("You may return shoes for 14 days.", "returns"),
    "gift": ("A gift card is valid for 12 months.", "gift-cards"),
    "express": ("Express delivery costs 19 EUR.", "shipping"),
}


@pytest.fixture
def shop():
    """The address of the agent, and what it knows, which the test changes."""
    known = dict(GOOD)

    class Shop(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            question = str(body.get("question", ""))
            said = (known[word] for word in known if word in question.lower())
            text, document = next(said, ("I answer questions about the shop.", "about"))
            data = {"answer": {"text": text}, "documents": [{"id": document}]}
            sent = json.dumps(data if question else {"error": "question is required"}).encode()
            self.send_response(200 if question else 422)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_):
            pass

    with listening(Shop) as url:
        yield url, known


def normal(line):
    return re.sub(r"\s+", " ", re.sub(r"\d+(?:\.\d+)?", "#", line)).strip()


class Reader:
    """Does what a page says, in an empty folder."""

    def __init__(self, folder):
        self._folder, self._printed = folder, []
        self.times = []  # (command, seconds)

    def do(self, command):
        """`gate ...` in this process, anything else in a shell; the exit code must be the one that
        the command's remark names, or 0.
        """
        words, _, remark = command.partition(" # ")
        begun = time.perf_counter()
        if words.startswith("gate "):
            done = gate(self._folder, *shlex.split(words)[1:])
        else:
            done = subprocess.run(
                ["sh", "-c", words], cwd=self._folder, capture_output=True, text=True, check=False
            )
        self.times.append((" ".join(words.split()[:2]), time.perf_counter() - begun))
        wanted = int(remark.rpartition(" ")[2]) if remark else 0
        assert done.returncode == wanted, (command, done.stdout + done.stderr)
        self._printed = [normal(line) for line in done.stdout.splitlines()]

    def compare(self, shown):
        """The last command prints each line that the page shows, perhaps on two lines."""
        printed = " ".join(self._printed)
        for line in filter(None, map(normal, shown.splitlines())):
            assert line in printed, (line, self._printed)


@pytest.fixture
def reader(tmp_path, record_property):
    reader = Reader(tmp_path)
    yield reader
    told = ", ".join(f"{command} {seconds:.2f}" for command, seconds in reader.times)
    record_property("told", f"{sum(seconds for _, seconds in reader.times):.2f} s: {told}")


def test_the_page_of_the_first_hour_works_as_it_says(tmp_path, shop, reader):
    url, known = shop
    commands = []
    for kind, text in BLOCK.findall(PAGE):
        if kind == "yaml":
            (tmp_path / "datasets" / "questions.yaml").write_text(text)
        elif kind == "sh":
            commands.append(text.strip().replace("$AGENT", url))
            if text.startswith("gate run #"):
                known.update(BROKEN)
            reader.do(commands[-1])
            known.update(GOOD)
        else:
            reader.compare(text)
    assert len(commands) <= MOST_COMMANDS
    assert [one.partition(" #")[0] for one in commands].count("gate run") == 3


# ------------------------------------------------------------------------------------- the README


def under(heading):
    """The blocks (kind, text) below a heading of the README."""
    return BLOCK.findall(README.partition(f"## {heading}\n")[2].partition("\n## ")[0])


@pytest.mark.skipif(os.name == "nt", reason="a shell as POSIX has it")
def test_the_readme_leads_from_nothing_to_a_verdict(reader):
    (_, commands), (_, shown) = under("From nothing to a verdict")
    assert commands.count("\n") <= MOST_LINES
    for statement in STATEMENT.findall(commands.replace(" && ", "\n")):
        reader.do(statement)
    reader.compare(shown)


def test_the_workflow_of_the_readme_is_the_one_that_init_writes():
    ((_, text),) = under("On every pull request")
    assert text.count("\n") <= 10
    shown = yaml.safe_load(text)
    written = yaml.safe_load(render_files()[".github/workflows/gate.yml"])
    assert shown["permissions"] == written["jobs"]["gate"]["permissions"]
    uses = [step["uses"] for step in written["jobs"]["gate"]["steps"]]
    assert [step["uses"] for step in shown["jobs"]["gate"]["steps"]] == uses[:2]


def test_the_readme_takes_two_minutes():
    assert len(README.split()) <= MOST_WORDS


def test_an_agent_that_never_answers_is_sent_to_the_doctor(tmp_path):
    (tmp_path / "agent.py").write_text("def answer(case):\n    raise ValueError('boom')\n")
    cases = [{"id": f"c{n}", "input": "q", "expected_answer": "yes"} for n in range(6)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (tmp_path / "gate.yml").write_text(
        "version: 1\nagent: {type: python, callable: './agent.py:answer'}\n"
        "suites: [{name: s, dataset: cases.jsonl, graders: [exact_match]}]\n"
    )
    told = gate(tmp_path, "run").stdout
    assert "find out why the agent gives no answer: gate doctor" in told
    assert "baseline save" not in told
