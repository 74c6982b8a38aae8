"""The list of cases in report.html: a case, its trials, and what each of them did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.records import CaseChange, CheckedJson, Report
from gate.report.session_page.case_blocks import CaseBlocks
from gate.report.session_page.sentence_markup import (
    NONE,
    as_markup,
    join_paragraphs,
)
from gate.report.wording import case_totals, metric_falls, patterns, sentences, steps
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup, join_markup, markup

Shown = Mapping[str, CheckedJson]  # what the page shows of a trial


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEntry:
    """One case of the list; `trials` is empty where details are left out."""

    case: case_totals.CaseBook
    kind: str  # how it changed, in words; empty when it did not
    change: CaseChange | None
    trials: tuple[Shown, ...] = ()
    worse: tuple[str, ...] = ()  # metrics that it made worse, and how
    expected: str = ""
    was: tuple[str, str] = ("", "")  # what the base branch answered, with a title

    @property
    def diff(self) -> tuple[str, tuple[str, ...]]:
        """What its steps are beside those of before: a title, and lines as in a diff."""
        step_diff = self.change.steps if self.change else None
        if step_diff is None or self.change is None:
            return "", ()
        return steps.summary(self.change, step_diff), tuple(steps.lines(step_diff))

    @property
    def history(self) -> str:
        """`3/3 2/3`, run by run; empty where nothing is stored."""
        runs = self.change.history if self.change else ()
        return " ".join(f"{passed}/{rounds}" for passed, rounds in runs if rounds)

    @property
    def rounds(self) -> str:
        now = f"{self.case.passed}/{self.case.judged}" if self.case.judged else figures.ABSENT
        change = self.change
        if change is None or change.baseline_passed is None:
            return now
        return f"{change.baseline_passed}/{change.baseline_rounds} → {now}"


def list_cases(report: Report, entries: Sequence[CaseEntry], blocks: CaseBlocks) -> Markup:
    """The worst cases as they stand, and all of them as a script opens them."""
    several = len(report.suites) > 1
    total = sum(suite.cases for suite in report.suites.values())
    return markup(
        '<section><h2>Cases</h2>\n<p>%s</p>\n%s%s<div id="app" hidden></div>\n'
        '<div class="cases" id="worst">\n%s%s</div></section>\n',
        as_markup(sentences.case_counts(report)),
        join_paragraphs(metric_falls.titles(report)),
        join_markup(markup('<p class="note">%s</p>', text) for text in _left_out(blocks)),
        markup(
            '<p class="note"><span>%s</span> stand here; the list of all needs scripts.</p>\n',
            f"The first {len(entries)} of {total:,} cases",
        )
        if len(entries) < total
        else NONE,
        join_markup(_case(entry, several=several) for entry in entries)
        or Markup("<p>No case was run.</p>\n"),
    )


def embed_blocks(blocks: CaseBlocks) -> Markup:
    """Elements that no browser runs: their content is base64, which has no sign of HTML."""
    named = [("index", blocks.index)]
    named += [(f"block-{number}", block) for number, block in enumerate(blocks.details)]
    return join_markup(
        markup('<script type="application/gzip;base64" id="%s">%s</script>\n', name, Markup(block))
        for name, block in named
    )


def _left_out(blocks: CaseBlocks) -> Iterator[str]:
    if blocks.left_out:
        yield (
            f"Questions, answers and steps of {figures.count(blocks.left_out, 'case')} are left "
            "out, as this page would be too large; they are in details.jsonl."
        )
    if blocks.cut:
        yield (
            f"Long texts of {figures.count(blocks.cut, 'case')} are cut; they are whole in "
            "details.jsonl."
        )


def _case(entry: CaseEntry, *, several: bool) -> Markup:
    summary = _summary(entry, several=several)
    if not entry.trials:
        return markup('<div class="case">%s</div>\n', summary)
    question = entry.trials[0]["question"]
    return markup(
        '<details class="case"><summary>%s</summary>\n<div class="body">\n'
        "%s%s%s%s</div></details>\n",
        summary,
        join_markup(
            markup("<h4>%s</h4><pre>%s</pre>", title, text)
            for title, text in (("Question", question), ("Expected", entry.expected), entry.was)
            if text
        ),
        markup("<p>Passed rounds of the baseline, run by run: %s</p>", entry.history)
        if entry.history
        else NONE,
        _diff(*entry.diff),
        join_markup(map(_trial, entry.trials)),
    )


def _summary(entry: CaseEntry, *, several: bool) -> Markup:
    case, changed = entry.case, entry.kind in ("newly failing", "errored")
    group = f"{one_line(case.suite, 60)}{' · ' if case.category else ''}" if several else ""
    mode = entry.change.mode if entry.change else None
    codes = [*entry.worse[:2], *(code for code, _ in case.troubles.codes.most_common(2))]
    return markup(
        '<span class="name"><code>%s</code>%s</span>\n<span class="group">%s%s</span>\n'
        '<span class="rounds %s">%s</span>\n<span class="codes">%s%s</span>\n',
        one_line(case.case_id, 120),
        markup(' <em class="%s">%s</em>', "bad" if changed else "none", entry.kind)
        if entry.kind
        else NONE,
        group,
        one_line(str(case.category or ""), 60),
        "bad" if case.failing else "ok",
        entry.rounds,
        f"{patterns.words(mode)} " if mode else "",
        join_markup(markup("<code>%s</code> ", one_line(code, 60)) for code in codes),
    )


def _diff(title: str, lines: Sequence[str]) -> Markup:
    if not lines:
        return NONE
    kinds = {"+": "ok", "-": "bad"}
    return markup(
        '<h4>%s</h4><pre class="diff">%s</pre>',
        title,
        join_markup(
            markup('<span class="%s">%s</span>\n', kinds.get(text[:1], "none"), text)
            for text in lines
        ),
    )


def _trial(row: Shown) -> Markup:
    passed = row["passed"]
    words = {True: "passed", False: "failed"}.get(passed) or row["status"].replace("_", " ")
    return markup(
        '<section class="trial %s">\n<h4>Round %s: %s\n<small>%s%s · %s</small></h4>\n'
        "%s%s%s%s%s%s%s%s%s%s</section>\n",
        {True: "ok", False: "bad"}.get(passed, "none"),
        row["round"],
        words,
        row["latency"],
        "" if row["tokens"] is None else f" · {row['tokens']} tokens",
        row["cost"],
        _failures(row),
        _part("Error", row["error"]),
        _part("Answer", row["output"]),
        join_markup(
            _part(one_line(name), text, any_text=True) for name, text in row["reasons"].items()
        ),
        join_markup(
            _part(f"Not scored by {one_line(name)}", text, any_text=True)
            for name, text in row["unscored"].items()
        ),
        _codes("Retrieved: ", row["retrieved"]),
        _trace(row),
        _log_check(row["evidence"]),
        markup(
            "<p>%s</p>", join_markup(markup("<small>%s</small> ", text) for text in row["faults"])
        )
        if row["faults"]
        else NONE,
        _scores(row["scores"]),
    )


def _part(title: str, text: str, *, any_text: bool = False) -> Markup:
    return markup("<h5>%s</h5><pre>%s</pre>", title, text) if text or any_text else NONE


def _codes(title: str, names: Sequence[str]) -> Markup:
    if not names:
        return NONE
    return markup("<p>%s%s</p>", title, join_markup(markup("<code>%s</code> ", n) for n in names))


def _failures(row: Shown) -> Markup:
    if not row["mode"] and not row["failures"]:
        return NONE
    mode = markup("<strong>%s</strong> ", row["mode"]) if row["mode"] else NONE
    codes = join_markup(markup('<code class="bad">%s</code> ', code) for code in row["failures"])
    return markup("<p>%s%s</p>", mode, codes)


def _trace(row: Shown) -> Markup:
    if not row["steps"]:
        return NONE
    more = row["more_steps"]
    return markup(
        '<h5>Trace</h5>\n<ol class="trace">\n%s%s</ol>\n',
        join_markup(
            markup(
                "<li><code>%s</code>%s%s%s</li>\n",
                step["name"],
                _pre("<pre>%s</pre>", step["arguments"]),
                _pre('<pre class="bad">%s</pre>', step["error"]),
                _pre('<pre class="result">%s</pre>', step["result"]),
            )
            for step in row["steps"]
        ),
        markup("<li>%s</li>", figures.count(more, "more step")) if more else NONE,
    )


def _pre(template: str, text: str) -> Markup:
    return markup(template, text) if text else NONE


def _log_check(cells: Sequence[str] | None) -> Markup:
    if not cells:
        return NONE
    _, _, verdict, missing, made_up = cells
    return markup(
        "<p>Server logs: %s%s%s</p>",
        one_line(verdict, 200),
        markup("; not logged: <code>%s</code>", one_line(missing)) if missing else NONE,
        markup('; claimed but not in the log: <code class="bad">%s</code>', one_line(made_up))
        if made_up
        else NONE,
    )


def _scores(scores: Mapping[str, float | None]) -> Markup:
    if not scores:
        return NONE
    shown = (
        markup("<span><code>%s</code> %s</span> ", one_line(name), figures.value(number, ""))
        for name, number in scores.items()
    )
    return markup('<p class="scores">%s</p>\n', join_markup(shown))
