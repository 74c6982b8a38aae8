"""The command that shows a failing case can be pasted as it stands."""

import shlex

import pytest

from gate.text.escaping import one_line
from gate.text.pasted import find_pasted
from gate.text.spans import Span, plain
from gate.verdict.debug_command import debug_command, same_run


def command(case_id, suite="s", *, stored_here=True):
    return debug_command([(suite, case_id)], [suite], "gate run", stored_here=stored_here)


@pytest.mark.parametrize(
    "case_id", ["c1", "a b", "it's", "$(reboot)", "`x`", "-v", "--help", "é:1"]
)
def test_a_shell_and_the_parser_read_the_id_back(case_id):
    from gate.commands.options.all import parse

    typed = plain((Span(command(case_id), "code"),))
    options = parse(shlex.split(typed)[1:])
    assert (options.case, options.suite) == ([case_id], ["s"])


@pytest.mark.parametrize("case_id", ["x" * 300, "\x1b" * 201, "<!--", "##[x", "", " "])
def test_an_id_that_no_report_shows_as_it_is_stands_for_itself(case_id):
    assert command(case_id) == "gate run --suite s --failed"
    assert command(case_id, stored_here=False) == "gate run --suite s"


@pytest.mark.parametrize("case_id", ["a\nb", "a  b", "\u202ea", "\x1b[2J", " x", "⟨ZWSP⟩"])
def test_an_id_that_no_report_shows_as_it_is_is_found_by_what_is_shown(case_id):
    from gate.commands.options.all import parse

    typed = one_line(plain((Span(command(case_id), "code"),)))
    options = parse(shlex.split(typed)[1:])
    assert find_pasted(options.case, ["a", "b", case_id, "ZWSP"]) == {case_id}


def test_a_suite_that_cannot_be_pasted_is_left_out():
    assert command("c1", "a\nb") == "gate run --failed"
    assert debug_command([], ["a\nb"], "gate run", stored_here=True) == "gate run --baseline auto"


def test_without_a_failing_case_the_suites_run_again():
    told = debug_command([], ["a", "b c"], same_run("x.yml", {}), stored_here=True)
    assert told == "gate run --config x.yml --suite a --suite 'b c' --baseline auto"
