"""`gate help`: for people, and as one document for programs."""

import json
import re
from argparse import Namespace

import pytest

from gate.commands.help import EXIT_CODES, OUTCOMES, run
from gate.commands.options.all import COMMANDS
from gate.commands.schema import SCHEMAS
from gate.errors import UsageError
from gate.plugins import GRADERS
from tests.support.grader_examples import generic
from tests.support.paths import ROOT


def told(capsys, *topic, as_json=False):
    assert run(Namespace(topic=[*topic], json=as_json), {}) == 0
    return capsys.readouterr().out


@pytest.fixture
def document(capsys):
    return json.loads(told(capsys, as_json=True))


def test_every_command_is_in_it_with_its_arguments(document):
    named = {command["name"]: command for command in document["commands"]}
    assert {name.split()[1] for name in named} == set(COMMANDS)
    (rounds,) = [one for one in named["gate run"]["arguments"] if one["name"] == "--rounds N"]
    assert "(3)" in rounds["about"]
    reason = named["gate baseline accept"]["arguments"][0]
    assert (reason["name"], reason["required"]) == ("--reason TEXT", True)


def test_every_grader_is_in_it_with_options_and_the_keys_that_it_reads(document):
    graders = {one["name"]: one for one in document["graders"]}
    assert set(graders) == set(GRADERS.names())
    assert list(graders["facts"]["case_keys"]) == ["expected_facts"]
    assert graders["facts"]["metrics"][0]["name"] == "correctness.fact_accuracy"
    assert "k" in graders["retrieval"]["options"]["properties"]


def test_exit_codes_and_outcomes_are_those_of_the_documentation(document):
    page = (ROOT / "docs" / "semantics.md").read_text("utf-8")
    part = page.partition("### Exit codes")[2].partition("\n**")[0]
    rows = re.findall(r"^\| ([\d, ]+) \|", part, re.MULTILINE)
    assert {int(code) for row in rows for code in row.split(",")} == set(EXIT_CODES)
    assert document["outcomes"] == list(OUTCOMES)
    meanings = dict(re.findall(r"^\| (\d+) \| (.+) \|$", part, re.M))
    for code, about in EXIT_CODES.items():
        both = [{*re.findall(r"`([^`]+)`", text)} for text in (about, meanings.get(str(code), ""))]
        if both[0]:  # the commands and options that end with it, too
            assert both[0] <= both[1], code
    for command in ("gate dataset check", "--case", "--failed"):
        assert f"`{command}`" in EXIT_CODES[1]


def test_one_command_is_shown_as_help_shows_it(capsys):
    with pytest.raises(SystemExit) as ended:
        run(Namespace(topic=["show"], json=False), {})
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: gate show ")


def test_an_action_of_a_command_is_shown_too(capsys):
    with pytest.raises(SystemExit):
        run(Namespace(topic=["baseline", "save"], json=False), {})
    assert capsys.readouterr().out.startswith("usage: gate baseline save ")


def test_one_command_or_grader_as_json(capsys):
    save = json.loads(told(capsys, "baseline", "save", as_json=True))
    assert save["name"] == "gate baseline save"
    whole = json.loads(told(capsys, "baseline", as_json=True))
    assert save in whole["actions"]
    facts = json.loads(told(capsys, "facts", as_json=True))
    assert (facts["kind"], facts["name"]) == ("graders", "facts")
    kinds = [one["kind"] for one in json.loads(told(capsys, "python", as_json=True))]
    assert kinds == ["agents", "retrievers"]
    with pytest.raises(UsageError, match="unknown command or plug-in - did you mean 'facts'"):
        run(Namespace(topic=["fatcs"], json=True), {})


def test_every_metric_of_the_reference_is_in_it(document):
    page = (ROOT / "docs" / "reference.md").read_text("utf-8")
    part = page.partition("## Metrics")[2].partition("\n## ")[0]
    wanted = set(re.findall(r"^\| `([^`]+)`", part, re.MULTILINE))
    of_graders = [metric for one in document["graders"] for metric in one["metrics"]]
    found = {generic(metric["name"]) for metric in (*document["metrics"], *of_graders)}
    assert len(wanted) > 50
    assert wanted <= found
    (contains,) = [one for one in of_graders if one["name"] == "correctness.contains"]
    assert contains["with_options"] == {"text": "..."}


def test_options_say_what_they_take(document):
    assert {"--version", "--self-test"} <= {one["name"] for one in document["options"]}
    named = {command["name"]: command["arguments"] for command in document["commands"]}
    run_options = {one["name"].split()[0]: one for one in named["gate run"]}
    assert run_options["--rounds"]["default"] == "3"
    assert run_options["--stop"]["choices"] == ["early", "off"]
    assert (run_options["--case"]["repeatable"], run_options["--rounds"]["repeatable"]) == (
        True,
        False,
    )
    (schema,) = named["gate schema"]
    assert set(schema["choices"]) == set(SCHEMAS)


def test_an_unknown_command_is_told_with_the_nearest(capsys):
    with pytest.raises(UsageError, match="unknown command - did you mean 'compare'"):
        run(Namespace(topic=["comapre"], json=False), {})


def test_the_page_for_coding_agents_names_keys_that_summary_json_has():
    page = (ROOT / "docs" / "coding-agents.md").read_text("utf-8")
    rows = page.partition("| key of summary.json |")[2].partition("\n\n")[0]
    named = {name.partition(".")[0] for name in re.findall(r"^\| `([\w.]+)`", rows, re.MULTILINE)}
    assert named <= SCHEMAS["session"]()["properties"].keys()
    assert len(named) >= 5
