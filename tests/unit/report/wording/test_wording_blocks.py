"""Sentences for a terminal of few columns."""

import pytest

from gate.report.wording.blocks import text_of
from gate.text.spans import prose

COMMAND = "gate run --resume results/session-20261128-225700-0a0b0c0d"


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_a_command_stands_on_one_line(width: int) -> None:
    text = f"Note: left out: the run did not finish; continue it with `{COMMAND}`, or remove it."
    lines = text_of([prose(text)], width=width).splitlines()
    assert sum(COMMAND in line for line in lines) == 1
    assert all(len(line) <= max(width, len(COMMAND) + 1) for line in lines)
    assert " ".join(lines) == text.replace("`", "")


def test_each_of_several_commands_is_kept_and_sentences_are_folded() -> None:
    text = (
        f"First `gate doctor --config a/gate.yml`, then `{COMMAND}`. " + "Words of no command. " * 5
    )
    shown = text_of([prose(text)], width=50)
    assert "gate doctor --config a/gate.yml" in shown
    assert COMMAND in shown
    assert max(len(line) for line in shown.splitlines() if COMMAND not in line) <= 50
