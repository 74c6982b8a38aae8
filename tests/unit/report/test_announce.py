import io
import json
from contextlib import redirect_stdout

import pytest

from gate.commands.options.all import parse
from gate.commands.options.records import output_options
from gate.report.announce import tell, verdict_text
from tests.support.reports import regression, several_suites
from tests.support.stored_session import store


def options(*arguments):
    return output_options(parse(["run", *arguments]))


def rows():
    return iter(())


def test_text_ends_with_the_outcome_and_where_the_session_is(tmp_path):
    session = store(tmp_path, {"a": [True]})
    lines = "\n".join(tell(regression(), session, options(), {})).splitlines()
    assert lines[-1] == f"Session written to: {session}"
    assert lines[-2].startswith("FAIL: ")


@pytest.mark.parametrize("form", ["json", "github", "markdown"])
def test_other_forms_stay_whole_and_the_session_is_told_beside(tmp_path, capsys, form):
    session = store(tmp_path, {"a": [True]})
    (text,) = tell(regression(), session, options("--format", form), {})
    assert "Session written" not in text
    assert capsys.readouterr().err == f"Session written to: {session}\n"
    if form == "json":
        assert json.loads(text)["outcome"] == "fail"
    else:
        assert text.startswith("# ")


def test_a_form_that_is_not_known_is_refused_with_the_four_that_are(capsys):
    with pytest.raises(SystemExit) as ended:
        options("--format", "xml")
    assert ended.value.code == 2
    assert "'xml' is unknown - known: plain, rich" in capsys.readouterr().err


def test_quiet_is_one_line():
    text = verdict_text(several_suites(), rows, options("--quiet"), {})
    assert text.startswith("fail: analytics: ")
    assert "\n" not in text


def test_quiet_has_words_without_marks():
    report = regression(reason="`agent.success_rate` fell")
    assert verdict_text(report, rows, options("--quiet"), {}) == "fail: agent.success_rate fell"


def test_quiet_markdown_is_one_line_and_quiet_json_is_whole():
    report = regression(reason="`agent.success_rate` fell in <b>a</b>")
    (text,) = verdict_text(report, rows, options("--quiet", "--format", "github"), {}).splitlines()
    assert text == "**fail**: `agent.success_rate` fell in &lt;b&gt;a&lt;/b&gt;"
    data = json.loads(verdict_text(report, rows, options("--quiet", "--format", "json"), {}))
    assert data["outcome"] == "fail"


def test_quiet_shows_no_control_signs():
    report = regression(reason="a\x1b[31m\n::error::b")
    text = verdict_text(report, rows, options("--quiet"), {})
    assert "\x1b" not in text
    assert not any(line.startswith("::") for line in text.splitlines())


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


class Ascii(Terminal):
    encoding = "ascii"


@pytest.mark.parametrize(
    ("stream", "arguments", "env", "colour", "signs"),
    [
        (Terminal, [], {}, True, True),
        (Terminal, ["--format", "rich"], {}, True, True),
        (Terminal, ["--format", "text"], {}, True, True),
        (Terminal, ["--format", "plain"], {}, False, True),
        (Terminal, ["--no-color"], {}, False, True),
        (Terminal, [], {"NO_COLOR": "1"}, False, True),
        (Ascii, ["--no-color"], {}, False, False),
    ],
)
def test_what_the_terminal_can_show(stream, arguments, env, colour, signs):
    with redirect_stdout(stream()):
        text = verdict_text(regression(), rows, options(*arguments), env)
    assert ("\x1b[" in text) is colour
    assert text.isascii() is not signs
