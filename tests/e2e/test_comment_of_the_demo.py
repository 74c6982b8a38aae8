"""What `gate demo` leaves, as its reader sees it: comments that are short and say the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.comment_words import count_words
from tests.support.paths import ROOT

OPEN, ALL = 385, 1_450  # words of the comment of the pull request that fails


@pytest.fixture(scope="module")
def comments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """First run, unchanged, one document instead of five, several steps, nobody: their comments."""
    folder = tmp_path_factory.mktemp("demo")
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "gate", "demo"],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr
    sessions = re.findall(r"^Session written to: (.+)$", done.stdout, re.MULTILINE)
    texts = [Path(folder, session, "comment.md").read_text("utf-8") for session in sessions]
    return dict(zip(("first", "pass", "fail", "steps", "outage"), texts, strict=True))


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
