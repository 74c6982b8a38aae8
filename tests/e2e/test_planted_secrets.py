"""Secrets of many kinds, as people's variables hold them, given back by an agent, a judge and user
code, plain and written otherwise: none is in a file of the session or in anything that is printed.
"""

from __future__ import annotations

import base64
import codecs
import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from tests.support.chat_server import ChatServer, Reply
from tests.support.github_server import GitHub, serving
from tests.support.in_process import gate
from tests.support.runner import BASE, on_a_pull_request

A, B, C = "Zq7LmW4tRb8KcV1n9fQ2", "h3Yp6sXd0GkJ5uTzEw8a", "0f3c9d2e7a1b4c5d8e6f"
BASIC = base64.b64encode(b"ci-bot:Trub4dor&3x").decode()
VARIABLES = {
    "MY_ACCESS": f"acc-{A}",  # named by api_key_env; --provider-key stands for it
    "JUDGES_OWN": f"jud-{B}",
    "JUDGE_API_KEY": f"old-{A}",  # the input judge-key stands for it
    "GITHUB_PAT": f"github_pat_{B}{C}",
    "STRIPE_KEY_PROD": f"sk_live_{C}{A}",
    "DB_PASSWORD_2": "c0rrect-h0rse&9",
    "AWS_SECRET_ACCESS_KEY": f"{A}/{B}+",
    "AWS_ACCESS_KEY_ID": "AKIAQ7ZW4TRB8KCV1N9F",
    "HTTPS_PROXY": "http://proxyuser:pr0xy-Pa55@127.0.0.1:9",
    "DATABASE_URL": "postgres://app:d4tabase-Pa55@db:5432/x",
    "SENTRY_DSN": f"https://{C}{C[:12]}@o4501.ingest.sentry.io/1",
    "SLACK_WEBHOOK_URL": f"https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/{B}Xy12",
    "UPSTREAM_AUTH": f"Basic {BASIC}",
    "STORAGE_CONNECTION": f"AccountName=a;AccountKey={B}{A}==;EndpointSuffix=x",
    "DEPLOY_KEY": f"-----BEGIN EC PRIVATE KEY-----\n{A}{B}{C}\n-----END EC PRIVATE KEY-----\n",
    "DB_USER_SECRET": "wrong",  # an ordinary word, which stays
}
SECRETS = (
    *(f"acc-{A}", f"jud-{B}", f"old-{A}", f"pro-{C}", f"github_pat_{B}{C}", f"sk_live_{C}{A}"),
    *("c0rrect-h0rse&9", f"{A}/{B}+", "AKIAQ7ZW4TRB8KCV1N9F", "pr0xy-Pa55", "proxyuser:pr0xy-Pa55"),
    *("d4tabase-Pa55", f"{C}{C[:12]}", f"B0AB12CD3/{B}Xy12", "ci-bot:Trub4dor&3x", "Trub4dor&3x"),
    *(f"{B}{A}==", f"{A}{B}{C}", "base-Pa55"),
)
WAYS: dict[str, Callable[[str], str]] = {
    "plain": lambda s: s,
    "base64": lambda s: base64.b64encode(s.encode()).decode().rstrip("="),
    "base32": lambda s: base64.b32encode(s.encode()).decode().rstrip("="),
    "hex": lambda s: s.encode().hex(),
    "reversed": lambda s: s[::-1],
    "capitals": str.upper,
    "small": str.lower,
    "rot13": lambda s: codecs.encode(s, "rot13"),
    "percent": lambda s: "".join(f"%{ord(c):02x}" for c in s),
    "percent twice": lambda s: "".join(f"%25{ord(c):02X}" for c in s),
    "json": lambda s: "".join(f"\\u{ord(c):04x}" for c in s),
    "python": lambda s: "".join(f"\\x{ord(c):02x}" for c in s),
    "html": lambda s: "".join(f"&#{ord(c)};" for c in s),
    "wide": lambda s: "".join(chr(ord(c) + 0xFEE0) for c in s),
    "blanks": " ".join,
}
PLANTED = [(way, write(secret)) for secret in SECRETS for way, write in WAYS.items()]
CASES = [f"c{n}" for n in range(len(WAYS))]
CODE = """
import json
PLANTED = json.loads(PLANTED_TEXT)
def agent(case):
    raise RuntimeError(f"GET http://bot:Remote-Pa55@h/x failed: {PLANTED[int(case['id'][1:])]}")
"""


def said(case: str) -> str:
    """Every secret in one way, between words."""
    return "; ".join(f"so {form} it is" for _, form in PLANTED[int(case[1:]) :: len(WAYS)])


def readings(data: bytes) -> Iterator[str]:
    """The text, and what its files' own notation stands for."""
    text = data.decode("utf-8", "replace")
    yield text
    yield html.unescape(text)
    yield unquote(text)
    once = re.sub(r"\\(u[0-9a-f]{4}|.)", lambda m: _sign(m[1]), text)
    yield once
    yield re.sub(r"\\(.)", r"\1", text)


def _sign(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) == 5 else escape


def leaks(data: bytes, also: tuple[str, ...] = ()) -> list[str]:
    forms = [*(form for _, form in PLANTED), *also]
    return [form for text in readings(data) for form in forms if form in text]


def scan(folder: Path, *texts: str) -> None:
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    data = {n: p.read_bytes() for n, p in files.items() if not n.endswith((".py", "gate.yml"))}
    data |= {f"text {n}": text.encode() for n, text in enumerate(texts)}
    assert {name: found for name, one in data.items() if (found := leaks(one))} == {}


def judged(system: str, user: str) -> str:
    canary = re.findall(r"`canary`: ([0-9a-f]{16})", system)
    reason = said(f"c{sum(map(ord, user)) % len(WAYS)}")
    scores = ("correctness", "completeness", "faithfulness")
    found = {name: {"reason": reason, "score": 2} for name in scores}
    return json.dumps({**found, "addressed_judge": False, "canary": canary[0]})


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    def reply(asked: str, _: int) -> Reply | str:
        *before, question = (message["content"] for message in json.loads(asked))
        if before:
            return judged(before[-1], question)
        if question == "c14":
            return 500, {}, {"error": {"message": said("c0")}}
        return said(question)

    asked = {"expected_facts": ["z"], "expected_answer": "z"}
    rows = [{"id": case, "input": case, **asked} for case in CASES]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with ChatServer(reply, read=json.dumps) as server:
        there = server.url.replace("http://", "http://u:base-Pa55@")
        (tmp_path / "gate.yml").write_text(
            f"""version: 1
protect: false
report: {{sarif: true}}
agent: {{type: openai, base_url: "{there}", model: m, api_key_env: MY_ACCESS, concurrency: 4}}
judge: {{type: openai, base_url: "{server.url}", model: n, api_key_env: JUDGES_OWN,
         cache: judge.cache, concurrency: 4}}
suites:
  - {{name: s, dataset: cases.jsonl, rounds: 1, max_attempts: 1,
     graders: [facts, {{judge: {{rubric: answer}}}}]}}
gates: {{correctness.fact_accuracy: {{min: 0.9}}}}
"""
        )
        yield tmp_path


def test_the_search_finds_what_is_planted() -> None:
    for _, form in PLANTED:
        assert leaks(json.dumps({"a": form}).encode())
        assert leaks(json.dumps({"a": form}, ensure_ascii=False).encode())
        assert leaks(html.escape(form).encode())
        assert leaks(quote(form).encode()) or "%" in form


def test_gate_run_leaves_none(project: Path) -> None:
    config = (project / "gate.yml").read_text().replace("u:base-Pa55@", "")
    (project / "gate.yml").write_text(config)
    server = re.findall(r'base_url: "http://([^"]*)"', config)[0]
    key, url = f"--provider-key=pro-{C}", f"--base-url=http://u:base-Pa55@{server}"
    record = ("--record=kept.jsonl", "--verbose", "--baseline=none")
    done = gate(project, "run", key, url, *record, env=VARIABLES)
    assert done.returncode in (1, 6), done.stderr
    (session,) = (project / "results").glob("session-*")
    details = (session / "details.jsonl").read_text("utf-8")
    assert details.count("so *** it is") > 100
    assert "wrong answer" in done.stdout
    for name in ("meta.json", "summary.json", "report.html", "comment.md"):
        assert (session / name).stat().st_size
    assert list(session.glob("*.sarif*")), [p.name for p in session.iterdir()]
    assert (project / "judge.cache").stat().st_size > 1_000
    printed = [done.stdout, done.stderr]
    for form in ("csv", "jsonl", "junit", "otel", "promptfoo"):
        shown = gate(project, "export", str(session), "--format", form, env={"PATH": "/bin"})
        assert shown.returncode == 0, shown.stderr
        printed += [shown.stdout, shown.stderr]
    shown = gate(project, "run", "--replay=kept.jsonl", "--baseline=none", "--format=markdown")
    scan(project, *printed, shown.stdout, shown.stderr)


def test_errors_of_user_code_leave_none(tmp_path: Path) -> None:
    texts = [said(f"c{n}") for n in range(5)]
    (tmp_path / "agent.py").write_text(CODE.replace("PLANTED_TEXT", repr(json.dumps(texts))))
    rows = [{"id": f"c{n}", "input": "?", "expected_answer": "z"} for n in range(5)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "gate.yml").write_text(
        """version: 1
agent: {type: python, callable: "./agent.py:agent"}
judge: {type: openai, base_url: "http://127.0.0.1:9", model: n, api_key_env: MY_ACCESS}
control_agent: {type: openai, base_url: "http://127.0.0.1:9", model: n, api_key_env: JUDGES_OWN}
suites: [{name: s, dataset: cases.jsonl, rounds: 1, graders: [exact_match]}]
"""
    )
    options = ("run", "--baseline=none", "--verbose", "--record=kept.jsonl")
    env = {**VARIABLES, "AGENT_URL": "http://u:base-Pa55@127.0.0.1:9"}
    key = f"--provider-key=pro-{C}"
    done = gate(tmp_path, *options, key, env=env)
    assert "5/5 trials" in done.stderr, done.stderr
    scan(tmp_path, done.stdout, done.stderr)
    kept = (tmp_path / "kept.jsonl").read_text("utf-8")
    assert "http://***@h/x" in kept
    (session,) = (tmp_path / "results").glob("session-*")
    for text in (kept, (session / "events.jsonl").read_text("utf-8"), done.stderr):
        assert "Remote-Pa55" not in text
    (tmp_path / "agent.py").write_text(f"raise ValueError({said('c0')!r})\n")
    done = gate(tmp_path, *options, key, env=env)
    assert done.returncode
    scan(tmp_path, done.stdout, done.stderr)


@pytest.mark.parametrize("command", ["run", "validate", "plan"])
def test_a_suite_as_code_that_fails_tells_none(tmp_path: Path, command: str) -> None:
    """Only gate.yml says that the variable holds a key."""
    code = f"def load_tasks(self): raise ValueError('no acc-{A}')"
    (tmp_path / "own.py").write_text(
        f"class S:\n    {code}\n    def run_task(self, task, **asked): pass\n"
    )
    (tmp_path / "gate.yml").write_text(
        """version: 1
agent: {type: openai, base_url: "http://127.0.0.1:9", model: m, api_key_env: MY_ACCESS}
suites: [{name: s, suite: "./own.py:S", rounds: 1, graders: [exact_match]}]
"""
    )
    done = gate(tmp_path, command, env=VARIABLES)
    assert done.returncode == 2
    assert "raised ValueError: no ***" in done.stderr
    scan(tmp_path, done.stdout, done.stderr)


def test_gate_action_leaves_none(project: Path) -> None:
    with serving(GitHub()) as github:
        for name in ("gate.yml", "cases.jsonl"):
            github.contents[BASE, name] = (project / name).read_bytes()
        inputs = {
            "INPUT_PROVIDER-KEY": f"pro-{C}",
            "INPUT_JUDGE-KEY": f"new-{B}",
            "INPUT_CHECK-RUN": "true",
            "INPUT_VERBOSE": "true",
            "INPUT_BASELINE": "none",
        }
        env = {**on_a_pull_request(project, github), **VARIABLES, **inputs}
        env["NO_PROXY"] = "127.0.0.1"
        done = gate(project, "action", env=env)
        bodies = [json.dumps(seen.body) for seen in github.seen if seen.body]
        assert github.comments, done.stderr
        assert github.checks
    assert done.returncode in (1, 6), done.stderr
    assert (project / "output").stat().st_size
    scan(project, done.stdout, done.stderr, *bodies)


def test_a_key_of_gate_yml_is_in_no_error_of_the_action(project: Path) -> None:
    config = (project / "gate.yml").read_text()
    code = f"raise ValueError('no: ' + {json.dumps(f'acc-{A} and pro-{C} and jud-{B}')})\n"
    (project / "own.py").write_text(code)
    (project / "gate.yml").write_text(config.replace("[facts,", '[facts, "./own.py:Own",'))
    with serving(GitHub()) as github:
        for name in ("gate.yml", "cases.jsonl", "own.py"):
            github.contents[BASE, name] = (project / name).read_bytes()
        env = {**on_a_pull_request(project, github), **VARIABLES}
        env |= {"INPUT_PROVIDER-KEY": f"pro-{C}", "NO_PROXY": "127.0.0.1", "INPUT_BASELINE": "none"}
        done = gate(project, "action", env=env)
        bodies = [json.dumps(seen.body) for seen in github.seen if seen.body]
    assert done.returncode
    assert "no: ***" in done.stdout + done.stderr, done.stdout
    scan(project, done.stdout, done.stderr, *bodies)


def test_what_is_imported_leaves_none(tmp_path: Path) -> None:
    told = html.escape("; ".join(form for way, form in PLANTED if way == "plain"))
    (tmp_path / "gate.yml").write_text(
        """version: 1
agent: {type: openai, base_url: "http://u:base-Pa55@h", model: m, api_key_env: MY_ACCESS}
judge: {type: openai, base_url: "http://127.0.0.1:9", model: n, api_key_env: JUDGES_OWN}
suites: [{name: s, dataset: c.jsonl, graders: [exact_match]}]
"""
    )
    (tmp_path / "given.py").write_text(  # not among what is searched
        f'<testsuite name="s"><testcase classname="a" name="b"><error message="{told}">{told}'
        "</error></testcase></testsuite>"
    )
    options = ("--out=results", "--recording=kept.jsonl", "--config=gate.yml")
    env = {**VARIABLES, "PROVIDER_KEY": f"pro-{C}"}
    done = gate(tmp_path, "import", "junit", "given.py", *options, env=env)
    assert done.returncode in (0, 1), done.stderr
    assert "***" in (tmp_path / "kept.jsonl").read_text("utf-8")
    scan(tmp_path, done.stdout, done.stderr)
