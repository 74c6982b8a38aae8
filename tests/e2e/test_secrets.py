"""A key that an agent gives back in every form and every place stands in no byte of what a run
leaves: files, log, outputs, summary, comment, check. The search here knows nothing of redaction.
"""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from gate import cli
from tests.support.chat_server import ChatServer, Reply
from tests.support.github_server import GitHub, serving
from tests.support.runner import BASE, on_a_pull_request

KEY = "9fQ2/xZ7LmW4tRb8-KcV1n+sG6y"  # its variable's name does not look like a secret's
TOKEN = "ghs_U5pD0oXq3EjTn8Hw2Za"
SEPARATORS = (
    *("\n", "\r\n", " ", "\t", "\u200b", "\u200d", "\u2060", "\ufeff", "\xad", "\u202e", "\u3000"),
    *("\\n", "\\u200b", "&#8203;", "&shy;", "<wbr>", "%20", "\x1b[31m"),
)
# What may stay of a key: what a cut left of its beginning, and what base64 mixes with other text.
MOST = 6
GRADER = '''
from dataclasses import dataclass
from gate.records import MetricSpec, Score

@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Quotes the answer, cut anywhere."""

    keys = {}
    needs = ()

    def metrics(self):
        return (MetricSpec(name="correctness.quote", column="correctness.quote"),)

    def grade(self, case, response):
        said = response.answer
        if case.id == "breaks":
            raise RuntimeError(said[:40])
        codes = tuple(f"quoted:{said[n:n + 40]}" for n in range(0, min(200, len(said)), 20))
        return Score(values={"correctness.quote": 0.0}, passed=False, failures=codes,
                     reason=said[:30])
'''


def forms(secret: str) -> Iterator[str]:
    raw = secret.encode()
    yield secret
    for pad in (b"", b"a", b"ab"):
        yield base64.b64encode(pad + raw + b"tail").decode()
        yield base64.urlsafe_b64encode(pad + raw + b"tail").decode()
    yield quote(secret, safe="")
    yield json.dumps(json.dumps(secret))
    yield html.escape(secret)
    yield raw.hex()
    yield raw.hex().upper()


def leaks(secret: str) -> Iterator[str]:
    for form in forms(secret):
        yield form
    for form in (secret, base64.b64encode(b"x" + secret.encode()).decode(), secret.encode().hex()):
        for separator in SEPARATORS:
            yield separator.join(form[n : n + 5] for n in range(0, len(form), 5))
            yield separator.join(form)


LEAKS = [*leaks(KEY), *leaks(TOKEN)]
ERRORS = [
    *LEAKS[:12],
    *("x" * n + KEY for n in (150, 155, 190)),
    "\u200b" * 1330 + KEY,
    "\u200b" * 3990 + KEY,
    "\u200b" * 6450 + KEY,
    "\x00" * 5180 + KEY,
]
CASES = [
    "whole",
    "breaks",
    "many",
    "down",
    *(f"{kind}-{n}" for kind in ("error", "raw") for n in range(len(ERRORS))),
]
AGENT = """
def agent(case):
    from base64 import b64encode
    key = KEY
    raise RuntimeError({"long": "x" * 180 + key, "hidden": "\\u200b" * 6450 + key,
                        "coded": "x" * 170 + b64encode(key.encode()).decode()}[case["id"]])
"""


def reply(question: str, nth: int) -> Reply | str:
    if question.startswith("error-"):
        text = ERRORS[int(question[6:])]
        return 400, {}, {"error": {"message": text}}
    if question.startswith("raw-"):
        return 400, {}, ERRORS[int(question[4:])].encode()
    if question == "down":
        return 503, {}, {"error": f"no place for {KEY}"}
    said = {"whole": f"{'word ' * 5}{KEY}", "breaks": "x" * 30 + KEY, "many": " | ".join(LEAKS)}
    call = {"name": KEY, "arguments": json.dumps({KEY: LEAKS[:30]})}
    raw = {"name": "f", "arguments": "{not json " + LEAKS[20]}
    message = {
        "role": "assistant",
        "content": said[question],
        "tool_calls": [
            {"id": KEY, "type": "function", "function": call},
            {"id": "2", "type": "function", "function": raw},
        ],
    }
    some = LEAKS if question == "many" else LEAKS[:1]
    beyond = {
        "retrieved": [{"id": leak, "text": leak} for leak in some],
        "context": [{"text": leak} for leak in some],
        "steps": [{"name": leak, "args": {leak: leak}, "result": leak} for leak in some],
        "safety_violations": [{"type": leak} for leak in some],
    }
    body = {
        "model": f"model {KEY}",
        "choices": [{"message": message, "finish_reason": TOKEN}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
        "gate": beyond,
    }
    return 200, {}, body


# ------------------------------------------------------------------------------- what is searched


def readings(text: str) -> Iterator[str]:
    """The text, and what somebody reads who undoes its escapes once, twice or in turn."""
    seen = {text}
    queue = [text]
    for _ in range(3):
        queue = [new for old in queue for new in _undone(old) if new not in seen]
        queue = list(dict.fromkeys(queue))
        seen.update(queue)
    yield from seen


def _undone(text: str) -> Iterator[str]:
    yield html.unescape(text)
    yield unquote(text)
    yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)
    yield re.sub(r"\\[nrt]", "", text)


def bare(text: str) -> str:
    """Letters and signs alone."""
    text = re.sub(r"<[^<>]{0,40}>|\x1b\[[0-9;]*m", "", text).replace("\\", "")
    return text.translate({ord(c): None for c in set(text) if unicodedata.category(c)[0] in "CZ"})


def found_in(data: bytes) -> list[str]:
    """Longer parts of a secret than may stay."""
    hits = []
    for reading in readings(data.decode("utf-8", "replace")):
        shown = bare(reading)
        standard, lower = shown.replace("-", "+").replace("_", "/"), shown.lower()
        for secret in (KEY, TOKEN):
            raw = secret.encode()
            parts = [(shown, secret), (lower, raw.hex())]
            for pad in range(3):
                coded = base64.b64encode(b"a" * pad + raw).decode().replace("-", "+")
                parts.append((standard, coded[4:-4].replace("_", "/")))
            for where, what in parts:
                size = MOST + 1 if what == secret else 2 * MOST
                grams = {what[n : n + size] for n in range(len(what) - size + 1)}
                hits += [gram for gram in grams if gram in where]
    return hits


def test_the_search_finds_every_leak() -> None:
    missed = [leak for leak in LEAKS if not found_in(json.dumps({"a": leak}).encode())]
    assert missed == []
    assert found_in(f"and {KEY[:8]}… cut".encode())
    assert not found_in(b"nothing of it: *** and 9fQ2/x, words, digits 0123456789 and a+b/c")


# ------------------------------------------------------------------------------------------- runs


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    rows = [
        {"id": c, "input": c, "expected_facts": ["z"], "relevant_doc_ids": ["d"]} for c in CASES
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "quote.py").write_text(GRADER)
    with ChatServer(reply) as server:
        (tmp_path / "gate.yml").write_text(
            f"""version: 1
protect: false
agent: {{type: openai, base_url: "{server.url}", model: m, api_key_env: MY_ACCESS, timeout_s: 20}}
suites:
  - {{name: s, dataset: cases.jsonl, rounds: 1, max_attempts: 2,
     graders: [facts, {{retrieval: {{k: [1]}}}}, "./quote.py:Quote"]}}
gates: {{correctness.fact_accuracy: {{min: 0.9}}}}
pricing: {{}}
"""
        )
        yield tmp_path


def scan(tmp_path: Path, printed: str, *more: str) -> None:
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".py"]
    names = [path.relative_to(tmp_path).as_posix() for path in files]
    assert any(name.endswith("details.jsonl") for name in names), names
    texts = {name: path.read_bytes() for name, path in zip(names, files, strict=True)}
    texts |= {f"text {n}": text.encode() for n, text in enumerate((printed, *more))}
    assert {name: found for name, data in texts.items() if (found := found_in(data))} == {}


def test_gate_run_leaves_no_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    env = {"MY_ACCESS": KEY, "GITHUB_TOKEN": TOKEN}
    options = ["--baseline", "none", "--stop", "off", "--verbose"]
    code = cli.run(["run", *options, "--record", "kept.jsonl"], env)
    printed = capfd.readouterr()
    assert code in (1, 6), printed.err
    assert (folder / "kept.jsonl").stat().st_size > 10_000
    scan(folder, printed.out, printed.err)
    for form in ("json", "markdown"):
        cli.run(["run", "--baseline", "none", "--replay", "kept.jsonl", "--format", form], env)
    printed = capfd.readouterr()
    assert not found_in((printed.out + printed.err).encode())


def test_a_variable_in_a_header_is_a_key_whatever_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    config = (folder / "gate.yml").read_text()
    agent = re.search(r'base_url: ("[^"]*)"', config)
    assert agent is not None
    http = (
        f'agent: {{type: http, url: {agent[1]}/chat/completions", timeout_s: 20, '
        'body: {messages: [{role: user, content: "{{input}}"}]}, '
        'headers: {x-corp: "Bearer ${MY_ACCESS}"}, response: {answer: "choices.0.message.content"}}'
    )
    (folder / "gate.yml").write_text(re.sub(r"(?m)^agent: .*$", lambda _: http, config))
    cli.run(["run", "--baseline", "none"], {"MY_ACCESS": KEY, "GITHUB_TOKEN": TOKEN})
    printed = capfd.readouterr()
    (session,) = (folder / "results").glob("session-*")
    assert "***" in (session / "details.jsonl").read_text()
    scan(folder, printed.out, printed.err)


def test_what_is_cut_of_an_error_has_no_beginning_of_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": c, "input": c, "expected_answer": "z"} for c in ("long", "hidden", "coded")]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "agent.py").write_text(AGENT.replace("KEY", repr(KEY)))
    (tmp_path / "gate.yml").write_text(
        """version: 1
agent: {type: python, callable: "./agent.py:agent"}
suites: [{name: s, dataset: cases.jsonl, rounds: 1, graders: [exact_match]}]
"""
    )
    env = {"MY_API_KEY": KEY}
    cli.run(["run", "--baseline", "none", "--verbose", "--record", "kept.jsonl"], env)
    printed = capfd.readouterr()
    (session,) = (tmp_path / "results").glob("session-*")
    lines = (session / "details.jsonl").read_text(encoding="utf-8").splitlines()
    assert [bool(json.loads(line)["error"]) for line in lines] == [True] * 3
    scan(tmp_path, printed.out, printed.err)


def test_gate_action_leaves_no_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    with serving(GitHub()) as github:
        for name in ("gate.yml", "cases.jsonl"):
            github.contents[BASE, name] = (folder / name).read_bytes()
        env = {
            **on_a_pull_request(folder, github),
            "MY_ACCESS": KEY,
            "INPUT_GITHUB-TOKEN": TOKEN,
            "INPUT_CHECK-RUN": "true",
            "INPUT_ANNOTATIONS": "true",
            "INPUT_VERBOSE": "true",
        }
        code = cli.run(["action"], env)
        bodies = [json.dumps(seen.body) for seen in github.seen if seen.body]
        assert github.comments, capfd.readouterr()
        assert github.checks
    printed = capfd.readouterr()
    assert code in (1, 6), printed.err
    assert (folder / "output").stat().st_size
    assert (folder / "summary").stat().st_size
    assert not (folder / "env").exists(), "no answer reaches the environment of later steps"
    scan(folder, printed.out, printed.err, *bodies)
