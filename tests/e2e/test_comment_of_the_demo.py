"""What `gate demo` leaves, as its reader sees it: comments that are short and say the same."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.comment_words import count_words
from tests.support.paths import ROOT

OPEN, ALL = 385, 1_450  # words of the comment of the pull request that fails


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the demo printed, in the folder in which somebody typed it."""

    folder: Path
    text: str

    def gate(self, *words: str) -> subprocess.CompletedProcess[str]:
        return gate(self.folder, *words)


def gate(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "gate", *words],
        cwd=folder,
        env={**env, "COLUMNS": "400"},  # no command is wrapped
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    folder = tmp_path_factory.mktemp("demo")
    done = gate(folder, "demo")
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr
    return Shown(folder=folder, text=done.stdout)


@pytest.fixture(scope="module")
def comments(shown: Shown) -> dict[str, str]:
    """First run, unchanged, one document instead of five, several steps, nobody: their comments."""
    sessions = re.findall(r"^Session written to: (.+)$", shown.text, re.MULTILINE)
    texts = [Path(shown.folder, session, "comment.md").read_text("utf-8") for session in sessions]
    return dict(zip(("first", "pass", "fail", "steps", "outage"), texts, strict=True))


def test_the_printed_next_steps_can_be_pasted(shown: Shown) -> None:
    """Those of failing cases, and that of the first run; `gate open` has tests of its own."""
    again = re.findall(r"^Next: gate (run .*--case .*)$", shown.text, re.MULTILINE)
    assert len(again) == 2
    for command in again:
        done = shown.gate(*shlex.split(command))
        assert done.returncode == 1, done.stderr
        assert "0 of 1 case passed every round" in done.stdout
    (save,) = re.findall(r"^Next: .* gate (baseline save .*)$", shown.text, re.MULTILINE)
    done = shown.gate(*shlex.split(save))
    assert done.stderr.endswith("this session is already in the baseline\n")  # the demo did it
    shutil.rmtree(shown.folder / "results" / "demo" / "baselines")
    done = shown.gate(*shlex.split(save))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "analytics: a new baseline begins (this folder is no git repository, and has no "
        "baselines/analytics.json)",
        "results/demo/baselines/analytics.json: 3 rounds of 1 run, 200 cases",
    ]


def test_the_failing_one_is_short(comments: dict[str, str]) -> None:
    opened, all_of_it = count_words(comments["fail"])
    assert opened <= OPEN, opened
    assert all_of_it <= ALL, all_of_it


def test_the_others_are_shorter(comments: dict[str, str]) -> None:
    for name in ("first", "pass", "steps", "outage"):
        opened, all_of_it = count_words(comments[name])
        assert opened <= OPEN, (name, opened)
        assert all_of_it <= ALL, (name, all_of_it)


def test_the_failing_one_begins_with_what_happened(comments: dict[str, str]) -> None:
    heading, cause, *_ = [line for line in comments["fail"].splitlines()[1:] if line]
    found = re.fullmatch(
        r"## ❌ Fail: (\d+) of (\d+) cases newly fail in analytics; "
        r"search\\_documents\.top\\_k 5 → 1",
        heading,
    )
    assert found, heading
    newly = found[1]
    assert cause.startswith(f"- Cause 1 (all {newly} cases): `search_documents.top_k` 5 → 1")


def test_a_first_run_that_may_pass_shows_its_failing_cases(comments: dict[str, str]) -> None:
    shown = comments["first"]
    assert "The policy allows this" in shown
    head, _, *rows = shown[shown.index("| Failing |") :].split("\n\n")[0].splitlines()
    assert head == "| Failing | asked | expected | now |"
    assert len(rows) == 5
    assert all(row.count(" | ") == 3 and "no answer" not in row for row in rows)


def test_words_are_counted_as_they_are_read() -> None:
    table = "| a | b |\n| :-- | --: |\n| `c d` | 3/3\N{NO-BREAK SPACE}→ 1 |\n"
    links = "[one](https://example.org/two) · &#36;0.10\n"
    steps = "```diff\n- x(y=1)\n```\n"
    fold = f"<details><summary>Four more words here</summary>\n\n{steps}\n</details>\n"
    text = f"<!-- a b c -->\n## ❌ Two words\n\n{table}\n{links}\n{fold}"
    assert count_words(text) == (2 + 6 + 2, 10 + 4 + 1)
