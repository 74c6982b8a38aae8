"""Forty mistakes that new users make, and what they are told: where, what is wrong, what to do.

A person has read mistakes/told.txt for its English. Read the diff before you write it anew.
"""

import io
import re
from contextlib import redirect_stderr, suppress
from pathlib import Path
from subprocess import CompletedProcess

from gate import cli
from tests.support.in_process import gate

GOLDEN = Path(__file__).parent / "mistakes" / "told.txt"
CONFIG = """version: 1
agent: {type: openai, base_url: "http://127.0.0.1:9", model: m}
suites:
  - name: s
    dataset: cases.jsonl
    graders: [facts]
gates: {agent.success_rate: {min: 0.8}}
protect: false
"""
CASES = """{"id": "a", "input": "How long?", "expected_facts": [30]}
{"id": "b", "input": "How much?", "expected_facts": [9]}
"""
TOLD, PROGRESS = re.compile("warning: |FAIL: |ERROR: "), re.compile(r"\d+/\d+ trials")
RUN = ("run", "--baseline", "none")


def config(old: str, new: str) -> dict[str, str]:
    assert old in CONFIG, old
    return {"gate.yml": CONFIG.replace(old, new)}


# What the user did -> the command, and the files that are not as they should be.
MISTAKES: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "a command that does not exist": (("rnu",), {}),
    "an option that does not exist": (("run", "--round", "3", "--basline", "none"), {}),
    "a value that an option does not have": (("run", "--format", "xml"), {}),
    "no number": (("run", "--rounds", "three"), {}),
    "an empty value": (("run", "--base-url", ""), {}),
    "a suite that does not exist": (("run", "--suite", "t"), {}),
    "a case that does not exist": (("run", "--case", "aa"), {}),
    "a session that does not exist": (("report", "results/session-1"), {}),
    "nothing was run yet": (("open",), {}),
    "the agent does not run": (RUN, {}),
    "no gate.yml": (("run",), {"gate.yml": ""}),
    "gate.yml is not YAML": (("validate",), {"gate.yml": "version: 1\nagent: {type: openai\n"}),
    "a tab in gate.yml": (("validate",), {"gate.yml": "version: 1\nagent:\n\ttype: sample\n"}),
    "a key twice": (("validate",), {"gate.yml": CONFIG + "gates: {}\n"}),
    "a misspelt key": (("validate",), config("dataset:", "datset:")),
    "a misspelt grader": (("validate",), config("[facts]", "[fact]")),
    "a misspelt option of a grader": (
        ("validate",),
        config("[facts]", "[{facts: {relative_tolerance: 0.1}}]"),
    ),
    "a misspelt metric": (("validate",), config("agent.success_rate", "agent.sucess_rate")),
    "a metric that no grader yields": (
        ("validate",),
        config("agent.success_rate", "retrieval.recall@5"),
    ),
    "a limit that nothing can meet": (("validate",), config("min: 0.8", "min: 1.5")),
    "min where max is meant": (
        ("validate",),
        config("agent.success_rate: {min: 0.8}", "operational.p95_latency_ms: {min: 500}"),
    ),
    "a type of agent that does not exist": (("validate",), config("type: openai", "type: opnai")),
    "an address without http": (
        RUN,
        config('base_url: "http://127.0.0.1:9"', 'base_url: "127.0.0.1:9"'),
    ),
    "the key in gate.yml": (("validate",), config("model: m", "model: m, api_key: sk-123")),
    "the key as the name of its variable": (
        ("validate",),
        config("model: m", "model: m, api_key_env: sk-proj-1234567890abcdef"),
    ),
    "a variable that is not set": (RUN, config("model: m", "model: m, api_key_env: NO_SUCH_KEY")),
    "no suite": (("validate",), {"gate.yml": "version: 1\nagent: {type: sample}\nsuites: []\n"}),
    "two suites of one name": (
        ("validate",),
        config("suites:\n", "suites:\n  - {name: s, dataset: cases.jsonl, graders: [facts]}\n"),
    ),
    "a dataset that is not there": (("validate",), config("cases.jsonl", "case.jsonl")),
    "an empty dataset": (("validate",), {"cases.jsonl": ""}),
    "a line that is not JSON": (("validate",), {"cases.jsonl": CASES + "{'id': 'c'}\n"}),
    "a list in a file of lines": (("validate",), {"cases.jsonl": f"[\n{CASES}]\n"}),
    "cases without an id": (("validate",), {"cases.jsonl": CASES.replace('"id"', '"name"')}),
    "an id twice": (("validate",), {"cases.jsonl": CASES.replace('"b"', '"a"')}),
    "a question under another name": (
        ("validate",),
        {"cases.jsonl": CASES.replace('"input"', '"user_question"')},
    ),
    "a misspelt key of the cases": (
        ("validate",),
        {"cases.jsonl": CASES.replace("expected_facts", "expected_fact")},
    ),
    "facts of the wrong form": (
        ("validate",),
        {"cases.jsonl": CASES.replace("[30]", '[{"fact": 30}]')},
    ),
    "cases that nobody approved": (
        ("validate",),
        {"cases.jsonl": CASES.replace('"input"', '"status": "proposed", "input"')},
    ),
    "a CSV file with a cell too many": (
        ("validate",),
        {**config("cases.jsonl", "cases.csv"), "cases.csv": "id,input,expected_facts\na,x,y,z\n"},
    ),
    "a judge grader without a judge": (
        ("validate",),
        {
            **config("[facts]", "[{judge: {rubric: answer}}]"),
            "cases.jsonl": CASES.replace("expected_facts", "expected_answer")
            .replace("[", '"')
            .replace("]", '"'),
        },
    ),
    "a pipe in a command": (
        RUN,
        config(
            'type: openai, base_url: "http://127.0.0.1:9"',
            'type: command, command: "python agent.py | tail -1"',
        ),
    ),
    "a variable in a command": (
        ("validate",),
        config(
            'type: openai, base_url: "http://127.0.0.1:9"',
            'type: command, command: "python agent.py --key $KEY"',
        ),
    ),
    "a template in a command": (
        ("validate",),
        config(
            'type: openai, base_url: "http://127.0.0.1:9"',
            'type: command, command: "python agent.py {{input}}"',
        ),
    ),
    "a home folder in a command": (
        ("validate",),
        config(
            'type: openai, base_url: "http://127.0.0.1:9"',
            'type: command, command: "python ~/agent.py"',
        ),
    ),
    "a program that does not exist": (
        RUN,
        config(
            'type: openai, base_url: "http://127.0.0.1:9"',
            'type: command, command: "pyton agent.py"',
        ),
    ),
    "a function in a file that is not there": (
        RUN,
        config(
            'type: openai, base_url: "http://127.0.0.1:9"',
            'type: python, callable: "./agnt.py:ask"',
        ),
    ),
    "a baseline that is no baseline": (("run", "--baseline", "cases.jsonl"), {}),
    "a results folder that is a file": (("run", "--out", "cases.jsonl"), {}),
}


def render(folder: Path) -> str:
    """Each mistake with the exit code and what is printed about it."""
    told = []
    for number, (name, (words, files)) in enumerate(MISTAKES.items(), start=1):
        place = folder / str(number)
        place.mkdir()
        for path, text in {"gate.yml": CONFIG, "cases.jsonl": CASES, **files}.items():
            if text or path != "gate.yml":
                (place / path).write_text(text, encoding="utf-8")
        done = type_command(place, words)
        printed = [line for line in done.stdout.splitlines() if TOLD.match(line)]
        printed += [line for line in done.stderr.splitlines() if not PROGRESS.match(line)]
        told.append(f"{number}. {name}: gate {' '.join(words)}  (exit {done.returncode})\n")
        told += [f"   {normal(line, place)}\n" for line in printed]
    return "".join(told)


def type_command(place: Path, words: tuple[str, ...]) -> CompletedProcess[str]:
    """What the command prints; also where its arguments are wrong, which ends a process."""
    error = io.StringIO()
    try:
        return gate(place, *words)
    except SystemExit:
        with redirect_stderr(error), suppress(SystemExit):
            cli.run(words, {})
    return CompletedProcess(words, 2, "", error.getvalue())


def normal(line: str, place: Path) -> str:
    return re.sub(r"session-\d{8}-\d{6}-\w{8}", "session-X", line.replace(str(place), "."))


def test_each_mistake_is_told_with_its_place_and_what_to_do(tmp_path, request):
    assert len(MISTAKES) >= 40
    told = render(tmp_path)
    if request.config.getoption("--update-golden", default=False):
        GOLDEN.write_text(told, encoding="utf-8")
    assert told == GOLDEN.read_text("utf-8"), "pytest tests/golden --update-golden, and read it"
    assert told.count("\n   ") == len(MISTAKES)  # one message each
