"""Whatever `--help`, the schema of gate.yml or action.yml names is there: none of it is answered
with a promise.
"""

import argparse
import json
import re
from copy import deepcopy
from itertools import pairwise

import pytest
import yaml

from gate.commands.options.all import COMMANDS, parser
from tests.support.in_process import gate, output_of
from tests.support.paths import ROOT
from tests.support.yes_project import write_recorded_project

DEEPEST = 3  # suites, 0, graders: what stands below is options of plug-ins, or data of cases
PROMISE = re.compile(r"not (yet )?(in|part of|supported in) this version|not implemented", re.I)

# What a command needs to get as far as its options: words after its name. SESSION and BASELINE
# stand for real ones.
NEEDS = {
    ("serve",): ["nowhere"],  # it would serve until somebody stops it
    ("compare",): ["SESSION", "SESSION"],
    ("merge",): ["SESSION", "--out", "joined"],
    ("report",): ["SESSION"],
    ("show",): ["c1", "--session", "SESSION"],
    ("comment",): ["SESSION"],
    ("calibrate",): ["SESSION", "SESSION", "--reps", "1"],
    ("baseline", "save"): ["SESSION"],
    ("baseline", "accept"): ["--reason", "meant"],
    ("review", "sample"): ["SESSION"],
    ("review", "import"): ["cases.jsonl"],
    ("dataset", "extend"): ["cases.jsonl"],
    ("dataset", "approve"): ["cases.jsonl", "--case", "c1", "--reviewer", "m"],
    ("dataset", "stats"): ["cases.jsonl"],
    ("grade",): ["answers.jsonl"],
    ("init",): ["new"],
    ("agent",): ["--host", "192.0.2.1"],  # of no machine: it must not serve
    ("import",): ["junit", "SESSION/junit.xml"],
    ("export",): ["SESSION", "--format", "csv"],
    ("verify",): ["SESSION/evidence"],
    ("sessions",): ["first"],
    ("schema",): ["config"],
    ("help",): ["run"],
}
VALUES = {
    "FILE": "cases.jsonl",
    "SESSION": "SESSION",
    "FOLDER": "cases.jsonl",  # of the demo, which ends there at once
    "SOURCE": "none",
    "NAME": "s",
    "ID": "c1",
    "URL": "http://127.0.0.1:9",
    "I/N": "1/1",
    "NAME=VALUE": "a=b",
    "DATE": "2026-11-01",
    "TIME": "2026-11-01",
    "FORMAT": "csv",
}
OWN = {"--config": "gate.yml", "--replay": "answers.jsonl", "--record": "again.jsonl"}


def commands():
    """Every command with a set of options: its words, its parser."""
    for name, command in choices(parser()).items():
        inner = choices(command)
        yield from (((name, action), one) for action, one in inner.items())
        if not inner:
            yield (name,), command


def choices(command):
    found = [a for a in command._actions if isinstance(a, argparse._SubParsersAction)]
    return found[0].choices if found else {}


def given(option):
    """The option with a value that it takes."""
    name = option.option_strings[-1]
    if option.nargs == 0:
        return [name]
    if isinstance(option.nargs, int):
        return [name, *(VALUES[metavar] for metavar in option.metavar)]
    value = str(next(iter(option.choices or ()), "") or VALUES.get(option.metavar, "1"))
    return [name, OWN.get(name, value)]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("named")
    write_recorded_project(folder, 0)
    told = output_of(folder, "run", "--out", "first")
    session = told.splitlines()[-1].removeprefix("Session written to: ")
    return folder, session


@pytest.mark.parametrize("words", [words for words, _ in commands()], ids=" ".join)
def test_no_option_of_a_command_is_a_promise(project, words):
    folder, session = project
    command = dict(commands())[words]
    options = [
        o for o in command._actions if o.option_strings and o.dest not in ("help", "version")
    ]
    for option in options:
        typed = [*words, *NEEDS.get(words, []), *given(option)]
        done = gate(folder, *(word.replace("SESSION", session) for word in typed))
        assert not PROMISE.search(done.stdout + done.stderr), typed
        assert done.returncode != 70, (typed, done.stderr)


def test_every_command_is_walked():
    assert {words[0] for words, _ in commands()} == set(COMMANDS)
    assert len(list(commands())) > 20


# --------------------------------------------------------------------------------- keys of gate.yml


def keys(schema, of, path=()):
    """Every place of a key, what stands there, and what must stand beside it: `path` has names, and
    0 for an item.
    """
    for inner in variants(schema, of):
        properties = inner.get("properties", {})
        needed = {name: properties.get(name, {}) for name in inner.get("required", ())}
        needed |= {"type": properties["type"]} if "const" in properties.get("type", {}) else {}
        beside = {name: example(schema, one) for name, one in needed.items()}
        for name, one in properties.items():
            yield (*path, name), one, beside
            yield from keys(schema, one, (*path, name))
        if isinstance(inner.get("items"), dict):
            yield from keys(schema, inner["items"], (*path, 0))


def variants(schema, of):
    """What the schema at a place may be, references followed."""
    if "$ref" in of:
        of = schema["$defs"][of["$ref"].rpartition("/")[2]]
    yield of
    parts = [one for name in ("oneOf", "anyOf", "allOf") for one in of.get(name, ())]
    parts += [of[name] for name in ("then", "else") if name in of]
    for one in parts:
        yield from variants(schema, one)


def example(schema, of):
    """A value that fits, or nearly."""
    first = next((v for v in variants(schema, of) if v.keys() & {"enum", "const", "type"}), {})
    if "enum" in first:
        return first["enum"][0]
    if "const" in first:
        return first["const"]
    kind = first.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        inner = first.get("properties", {})
        return {name: example(schema, inner.get(name, {})) for name in first.get("required", ())}
    if kind == "array":
        return [example(schema, first.get("items", {}))]
    simple = {"string": "x", "boolean": True, "null": None}
    return simple.get(kind, first.get("minimum", 0.5 if kind == "number" else 1))


def with_key(config, path, value, beside):
    """The config with `value` at the place, and as little as can be on the way there; None where
    the way leads through something else.
    """
    here = config
    for name, after in pairwise(path):
        made = [] if after == 0 else {}
        if name == 0:
            here += [] if here else [made]
            here = here[0]
        else:
            here = here.setdefault(name, made)
        if not isinstance(here, list if after == 0 else dict):
            return None
    if here.get("type", beside.get("type")) != beside.get("type"):
        here.clear()
    for name, one in {path[-1]: value, **beside}.items():
        here.setdefault(name, one)
    return config


def test_no_key_of_gate_yml_is_a_promise(project):
    folder, _ = project
    plain = yaml.safe_load((folder / "gate.yml").read_text("utf-8"))
    schema = json.loads(output_of(folder, "schema", "config"))
    walked: dict[str, tuple] = {}  # the text of gate.yml -> a place
    for path, one, beside in keys(schema, schema):
        if len(path) > DEEPEST:
            continue
        config = with_key(deepcopy(plain), path, example(schema, one), beside)
        if config is not None:
            walked.setdefault(json.dumps(config), path)
    for config, path in walked.items():
        (folder / "one.yml").write_text(config, encoding="utf-8")  # JSON is YAML
        done = gate(folder, "validate", "--config", "one.yml")
        assert not PROMISE.search(done.stdout + done.stderr), (path, done.stderr)
        assert done.returncode != 70, (path, done.stderr)
    assert len(walked) > 100


# ----------------------------------------------------------------------------- inputs of the action


@pytest.mark.parametrize("file", ["action.yml", "native/action.yml"])
def test_no_input_of_an_action_is_a_promise(project, file):
    folder, session = project
    inputs = yaml.safe_load((ROOT / file).read_text("utf-8"))["inputs"]
    event = folder / "event.json"
    event.write_text(json.dumps({"repository": {"full_name": "o/r"}}), encoding="utf-8")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "schedule"}
    env |= {"GITHUB_EVENT_PATH": str(event), "GITHUB_WORKSPACE": str(folder)}
    env |= {"GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": "http://127.0.0.1:9"}
    values = {"merge": session, "replay": "answers.jsonl", "shard": "1/1", "config": "gate.yml"}
    for name, spec in inputs.items():
        value = values.get(name, spec.get("default") or "1")
        done = gate(folder, "action", env={**env, f"INPUT_{name.upper()}": str(value)})
        assert not PROMISE.search(done.stdout + done.stderr), name
        assert "no such input" not in done.stdout + done.stderr, name


def test_no_sentence_of_the_program_or_its_documents_is_one():
    texts = [*(ROOT / "gate").rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    found = [str(path) for path in texts if "not in this version" in path.read_text("utf-8")]
    assert found == []
