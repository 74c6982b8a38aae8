"""`gate dataset check`, from the command line; and on the suites that come with the product."""

import json
import re

import pytest

from gate.cli import run
from gate.files import bundled
from tests.support.paths import ROOT

CONFIG = """\
version: 1
agent: {type: sample}
suites:
  - name: shop
    dataset: cases.jsonl
    graders: [facts]
"""
RIGHT = {"id": "a", "input": "How many?", "expected_answer": "12 units", "expected_facts": [12]}
WRONG = {"id": "b", "input": "Did it rise?", "expected_answer": "Yes, by 9", "expected_facts": [9]}


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "gate.yml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def write(*cases):
        text = "".join(json.dumps(case) + "\n" for case in cases)
        (tmp_path / "cases.jsonl").write_text(text, encoding="utf-8")

    return write


def test_a_finding_has_its_place_and_exit_code_1(project, capsys):
    project(RIGHT, WRONG)
    assert run(["dataset", "check"], {}) == 1
    out = capsys.readouterr().out.splitlines()
    assert out == [
        "cases.jsonl:2: b: turned: the opposite passes",
        "    No, by 9",
        "suite 'shop': 2 cases, right answers: 2 of 2 pass, empty 2 of 2 fail, "
        "other_gold 2 of 2 fail, turned 0 of 1 fail, number_5pct 2 of 2 fail",
    ]


def test_nothing_found_and_what_a_case_allows(project, capsys):
    project(RIGHT, {**WRONG, "check_allow": {"turned": "a slip of the pen is forgiven"}})
    assert run(["dataset", "check", "--suite", "shop"], {}) == 0
    assert "turned 0 of 1 fail (1 allowed), number_5pct" in capsys.readouterr().out
    project(RIGHT, {**WRONG, "check_allow": {"turnd": "x"}})
    assert run(["dataset", "check"], {}) == 2
    assert "cases.jsonl:2: check_allow" in capsys.readouterr().err


def test_json(project, capsys):
    project(RIGHT, WRONG)
    assert run(["dataset", "check", "--format", "json"], {}) == 1
    told = json.loads(capsys.readouterr().out)
    (suite,) = told["suites"]
    assert told["findings"] == 1
    assert suite["mutations"]["turned"] == {
        **dict.fromkeys(("failed", "allowed", "open"), 0),
        **dict.fromkeys(("tried", "passed"), 1),
    }
    assert suite["findings"][0] == {
        "case": "b",
        "place": "cases.jsonl:2",
        "mutation": "turned",
        "answer": "No, by 9",
        "why": "",
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--suite", "shpo"], "no such suite - did you mean 'shop'?"),
        (["--judge"], "--judge asks the model under `judge` in gate.yml, and there is none"),
        (["--config", "none.yml"], "none.yml"),
    ],
)
def test_wrong_usage(project, capsys, arguments, told):
    project(RIGHT)
    assert run(["dataset", "check", *arguments], {}) == 2
    assert told in capsys.readouterr().err


def test_the_first_dataset_of_init_passes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["init"], {}) == 0
    assert run(["dataset", "check"], {}) == 0, capsys.readouterr().out


# ------------------------------------------------------------------------------------ our datasets


@pytest.mark.parametrize("suite", bundled.suites())
def test_nothing_is_found_in_ours_and_their_cards_have_the_figures(suite, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code = run(["dataset", "check", "--suite", suite, "--format", "json"], {})
    (told,) = json.loads(capsys.readouterr().out)["suites"]
    assert (code, told["findings"], told["telling_nothing"], told["unneeded"]) == (0, [], [], [])
    assert told["gold"]["passed"] == told["gold"]["tried"] == told["cases"]
    assert told["allowed_cases"] <= 0.05 * told["cases"]
    card = (bundled.folder() / suite / "README.md").read_text("utf-8")
    rows = re.findall(r"\n\| `(\w+)` \| (\d+) \| (\d+) \|", card.partition("## The check")[2])
    tried = {name: one for name, one in told["mutations"].items() if one["tried"]}
    assert {name: (int(n), int(failed)) for name, n, failed in rows} == {
        name: (one["tried"], one["failed"]) for name, one in tried.items()
    }
    share = f"{told['allowed_cases']} of {told['cases']} cases"
    assert f"`check_allow` stands in {share}" in card
