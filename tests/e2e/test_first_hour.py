"""docs/first-hour.md, played: an empty folder, a server that others made, the commands of the page.

Each output that the page shows is compared with what the command printed, but for digits.
"""

import json
import re
from http.server import BaseHTTPRequestHandler

import pytest

from tests.support.in_process import gate
from tests.support.loopback import listening
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "first-hour.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(sh|text|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOST_COMMANDS = 8

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
    return re.sub(r"\s+", " ", re.sub(r"\d+", "#", line)).strip()


def test_the_page_of_the_first_hour_works_as_it_says(tmp_path, shop):
    url, known = shop
    commands, printed, runs = 0, "", 0
    for kind, text in BLOCK.findall(PAGE):
        if kind == "yaml":
            (tmp_path / "datasets" / "questions.yaml").write_text(text)
        elif kind == "sh":
            words, _, note = text.strip().partition(" # ")
            commands += 1
            if words == "gate run":
                runs += 1
                known.update(BROKEN if runs == 2 else GOOD)
            done = gate(tmp_path, *words.replace("$AGENT", url).split()[1:])
            wanted = int(note.rpartition(" ")[2]) if note else 0
            assert done.returncode == wanted, done.stdout + done.stderr
            printed = [normal(line) for line in done.stdout.splitlines()]
        else:
            for line in filter(None, map(normal, text.splitlines())):
                assert any(shown.startswith(line) for shown in printed), (line, printed)
    assert commands <= MOST_COMMANDS
    assert runs == 3
