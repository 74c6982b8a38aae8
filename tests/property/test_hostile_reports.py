"""Any text in any field of a report, also of one that a fork wrote: everything that shows it, shows
text. GitHub's own Markdown parser is the judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.files.json_schema_quick import compile_check
from gate.github.comments import parse_marker
from gate.github.outputs import render_outputs, report_outputs
from gate.records import Report
from gate.records.codec import from_json, schema_of, to_json
from gate.report.console import render_console
from gate.report.formats.comment import LIMIT, render_limited, step_summary
from gate.report.formats.markdown import Markdown
from gate.report.wording.notes import render_annotations
from gate.store.foreign_report import origin_of, strip_report
from gate.text.spans import markdown, prose
from tests.support.hostile_text import ACTIVE, PIECES, RUNNER, RenderedPage
from tests.support.reports import HOSTILE, SCENARIOS

ALLOWED = {
    *(
        "h1",
        "h2",
        "h3",
        "p",
        "ul",
        "li",
        "strong",
        "em",
        "code",
        "blockquote",
        "pre",
        "details",
        "summary",
    ),
    *("table", "thead", "tbody", "tr", "th", "td", "a"),
}
EVIL = (
    *PIECES,
    *(
        HOSTILE,
        "\n\n## x",
        "\n| a | b |\n|--|--|\n",
        "](https://evil.example)",
        "`x`",
        "` @octocat `",
    ),
    *(
        "\n::set-output name=a::b",
        "\n::stop-commands::x",
        "GITHUB_ENV<<x\na\nx",
        "%0A::error::",
        "\\",
    ),
    *(
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example",
        "\\@octocat",
        "@octo​cat",
        "&#64;a",
    ),
    *(
        "[!WARNING]",
        "<details>",
        "</summary>",
        "- [x] ",
        "[^1]",
        "[a]: https://evil.example",
        "a\\|b",
    ),
    *("https://github.example@evil.example/", "https://github.example/o/r/actions/runs/1/../../x"),
)
evil = st.lists(st.sampled_from(EVIL), min_size=1, max_size=5).map("".join) | st.text(max_size=20)
FITS = compile_check(schema_of(Report))


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(data, str):
        yield path
    elif isinstance(data, (dict, list)):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(item, (*path, key))


def put(data: Any, path: tuple[Any, ...], text: str) -> str:
    """Writes a text there; gives what was there before."""
    *way, last = path
    for key in way:
        data = data[key]
    old, data[last] = data[last], text
    return str(old)


@cache
def fields(name: str) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """A scenario as JSON, and where it has words that are no fixed choice. Names of suites have a
    form that is checked when a session is read.
    """
    data = json.loads(json.dumps(to_json(SCENARIOS[name]())))
    free = []
    for path in list(leaves(data)):
        old = put(data, path, HOSTILE)
        named = path[0] == "suites" and path[-1] == "name"
        if FITS(data) and not named and path[0] != "comment_id":
            free.append(path)
        put(data, path, old)
    return json.dumps(data), tuple(free)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    whole, free = fields(draw(st.sampled_from(sorted(SCENARIOS))))
    data = json.loads(whole)
    every = draw(st.booleans())
    text = draw(evil)
    for path in free if every else draw(st.lists(st.sampled_from(free), max_size=6)):
        put(data, path, text if every else draw(evil))
    if draw(st.booleans()):  # nobody checks these names against anything
        for suite in data["suites"].values():
            suite["metrics"] = {f"{text}{key}": one for key, one in suite["metrics"].items()}
            suite["graders_unscored"] = {text: 3}
        data["cost"]["unknown_models"] = [text]
    return from_json(Report, data)


def check_markdown(text: str, link: str | None) -> None:
    html = cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE)
    page = RenderedPage(html)
    assert set(page.tags) <= ALLOWED
    assert not ACTIVE.search(page.loose.replace(link or "\0", ""))
    assert html.count("<details>") == html.count("</details>")
    addresses = re.findall(r'href="([^"]*)"', html)
    repository = (link or "").partition("/actions/")[0]
    assert all(link and a.startswith((link, f"{repository}/commit/")) for a in addresses), addresses
    columns = 0
    for line in text.splitlines():
        if not line.startswith("| "):
            columns = 0
            continue
        count = len(re.findall(r"(?<!\\)\|", line))
        columns = columns or count
        assert count == columns, line


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_what_a_fork_wrote_shows_as_text(report: Report) -> None:
    safe = strip_report(report, origin_of(report), shows_answers=True)
    text = render_limited(safe, lambda: iter(()), LIMIT)
    first, _, rest = text.partition("\n")
    assert parse_marker(text) is not None
    assert "<!--" not in rest
    assert first.count("<!--") == 1
    check_markdown(rest, safe.provenance.run_url)
    assert len(text.encode()) <= LIMIT


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_summary_and_report_show_it_as_text(report: Report) -> None:
    safe = strip_report(report, origin_of(report), shows_answers=True)
    for text in (step_summary(safe, lambda: iter(())), Markdown().render(safe, lambda: iter(()))):
        assert "<!--" not in text
        check_markdown(text, safe.provenance.run_url)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_nothing_printed_is_a_command_but_our_annotations(report: Report) -> None:
    for line in render_annotations(report):
        assert len(line.splitlines()) == 1
        assert re.match(r"::(error|warning|notice)(?: [^:\r\n]*)?::", line)
    printed = render_console(report, color=False, unicode=True, width=100)
    assert not RUNNER.search(printed)
    assert "\x1b" not in printed


def parsed(text: str) -> dict[str, str]:
    """As GitHub's runner reads a file of outputs."""
    found, lines = {}, iter(text.split("\n"))
    for line in lines:
        if not line:
            continue
        equals, arrow = line.find("="), line.find("<<")
        assert arrow >= 0, line
        assert equals < 0 or arrow < equals
        name, end = line[:arrow], line[arrow + 2 :]
        value = []
        for inner in lines:
            if inner == end:
                break
            value.append(inner)
        found[name] = "\n".join(value)
    return found


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_outputs_are_ours_alone(report: Report) -> None:
    values = report_outputs(report, Path("s"), Path())
    assert parsed(render_outputs(values)) == values
    assert all(name == name.lower() and " " not in name for name in values)


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_few_fields_at_a_time(name: str) -> None:
    """Deterministic: the worst text of all in eight fields at a time, the rest as it was: so few
    that the report has room for each.
    """
    whole, free = fields(name)
    assert len(free) > 20
    kinds: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for path in free:  # one field of each kind: lists hold many alike
        kinds.setdefault(tuple(key for key in path if not isinstance(key, int)), path)
    every = list(kinds.values())
    for paths in (every[n : n + 8] for n in range(0, len(every), 8)):
        data = json.loads(whole)
        for path in paths:
            put(data, path, HOSTILE)
        report = from_json(Report, data)
        safe = strip_report(report, origin_of(report), shows_answers=True)
        text = render_limited(safe, lambda: iter(()), LIMIT)
        assert "<!--" not in text.partition("\n")[2], paths
        check_markdown(text.partition("\n")[2], safe.provenance.run_url)


@given(
    st.lists(st.sampled_from(["`", "``", "a", "<b>", "![x](//y)", "@octocat ", " "]), max_size=9)
)
def test_code_in_a_sentence_ends_where_it_should(pieces: list[str]) -> None:
    """Code spans that touch would share their fences and let loose what is in them."""
    page = RenderedPage(cmarkgfm.github_flavored_markdown_to_html(markdown(prose("".join(pieces)))))
    assert set(page.tags) <= {"p", "code"}
    assert not ACTIVE.search(page.loose)
