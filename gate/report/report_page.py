"""report.html from top to bottom, as its reader sees it. `markup` escapes each value that is filled
in; which cases and trials are shown is for formats/html.py to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.records import CaseChange, CheckedJson, GateResult, Report, SuiteReport
from gate.report.wording import (
    case_totals,
    categories,
    evidence,
    headline,
    metric_falls,
    missing_metrics,
    patterns,
    people,
    plain_counts,
    published_scores,
    rule_changes,
    sentences,
    steps,
    violations,
)
from gate.report.wording.checks import Check, keys, list_checks
from gate.report.wording.corrected_judge import in_words
from gate.report.wording.cost import spending
from gate.report.wording.dimensions import (
    RANGE,
    by_dimension,
    dimensions,
    extremes,
    interval_of,
    pieces,
    whose_intervals,
)
from gate.report.wording.method import method, provenance
from gate.report.wording.next_step import next_step
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup, join_markup, markup
from gate.text.spans import Line, Span

NONE = Markup()

Shown = Mapping[str, CheckedJson]  # what the page shows of a trial


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEntry:
    """One case of the list; `trials` is empty where details are left out."""

    case: case_totals.CaseBook
    kind: str  # how it changed, in words; empty when it did not
    change: CaseChange | None
    trials: tuple[Shown, ...] = ()
    worse: tuple[str, ...] = ()  # metrics that it made worse, and how

    @property
    def state(self) -> str:
        """What the filter asks for."""
        failing = "failing " if self.case.failing else "passing "
        return failing + ("changed" if self.kind or self.worse else "")

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


def page(
    report: Report,
    books: Mapping[str, case_totals.SuiteBook],
    entries: Sequence[CaseEntry],
    left_out: Sequence[str],
    *,
    style: Markup,
    script: Markup,
    policy: str,
) -> str:
    """The whole file. `style` and `script` are the only ones that may run under the `policy`."""
    title = one_line(headline.headline(report))
    suites = report.suites.values()
    return join_markup(
        [
            _head(title, style, policy),
            _header(report, title),
            Markup("<main>\n"),
            *_notes(report),
            _suites(report),
            _checks(report),
            _dimensions(report),
            _safety(report),
            *(_server_logs(suite, books.get(suite.name)) for suite in suites if suite.evidence),
            *(_patterns(suite) for suite in suites if suite.modes or suite.reliability),
            _cases(report, entries, left_out),
            *(_metrics(report, suite) for suite in suites),
            _how(report),
            markup("</main>\n<script>%s</script>\n</body>\n</html>\n", script),
        ]
    )


def _head(title: str, style: Markup, policy: str) -> Markup:
    return markup(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="%s">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        "<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n",
        policy,
        title,
        style,
    )


def _header(report: Report, title: str) -> Markup:
    decision, run_link = headline.decision(report), sentences.run_link(report)
    return markup(
        '<header class="%s">\n<h1><span aria-hidden="true">%s</span> %s</h1>\n'
        '%s<p class="lead">%s</p>\n%s%s<p>%s%s</p>\n</header>\n',
        report.outcome,
        headline.icon_of(report),
        title,
        _paragraph(plain_counts.passing(report)),
        _line(headline.because(report)),
        _paragraph(decision),
        _paragraphs(sentences.comparisons(report)),
        _line(spending(report)),
        markup(" · %s", _line(run_link)) if run_link else NONE,
    )


def _notes(report: Report) -> Iterator[Markup]:
    """What a reader has to know before the numbers."""
    yield _note("note warn", rule_changes.title(report), rule_changes.list_loosened(report))
    yield _note("note", "Accepted", rule_changes.list_accepted(report))
    yield _note("note", "Read this before you rely on the result", sentences.cautions(report))


def _note(kind: str, title: str, lines: Sequence[Line]) -> Markup:
    if not lines:
        return NONE
    template = '<section class="%s"><h2>%s</h2><ul>%s</ul></section>\n'
    return markup(template, kind, title, _items(lines))


def _suites(report: Report) -> Markup:
    if len(report.suites) < 2:
        return NONE
    rows = (
        markup(
            '<tr><th scope="row">%s</th><td>%s %s</td><td>%s</td></tr>\n',
            one_line(suite.name, 80),
            headline.icon_of(report, suite.name),
            headline.word(suite.outcome),
            _line(headline.why(suite)),
        )
        for suite in report.suites.values()
    )
    return markup(
        '<section><h2>Suites</h2><div class="wide" role="region" aria-label="Suites" tabindex="0">'
        "<table>\n<thead><tr><th>Suite</th><th>outcome</th><th>why</th></tr></thead><tbody>\n"
        "%s</tbody></table></div></section>\n",
        join_markup(rows),
    )


def _checks(report: Report) -> Markup:
    """What blocks or calls for a look, apart from all the rest."""
    rows = list_checks(report)
    loud = [check for check in rows if check.blocking or check.sign != "good"]
    quiet = [check for check in rows if check not in loud]
    if not rows:
        return NONE
    more = NONE
    if quiet:
        more = markup(
            '<details class="more"><summary>%s, none of which blocks or calls for a look</summary>'
            "%s</details>",
            figures.count(len(quiet), "more comparison"),
            _check_table(report, quiet, "Other comparisons"),
        )
    return markup(
        "<section><h2>Limits and comparisons</h2>\n%s%s</section>\n",
        _check_table(report, loud, "Limits and comparisons") if loud else NONE,
        more,
    )


def _check_table(report: Report, rows: Sequence[Check], label: str) -> Markup:
    several = len(report.suites) > 1
    return markup(
        '<div class="wide" role="region" aria-label="%s" tabindex="0"><table class="stack">\n'
        '<thead><tr>%s<th>Metric</th><th class="n">baseline</th><th class="n">now</th>'
        "<th>change</th><th>rule</th><th>verdict</th></tr></thead><tbody>\n%s"
        "</tbody></table></div>\n%s",
        label,
        Markup("<th>Suite</th>") if several else NONE,
        join_markup(_check(check, several=several) for check in rows),
        _paragraph(plain_counts.describe_weighting(report, keys(rows))),
    )


def _check(check: Check, *, several: bool) -> Markup:
    quietly = not check.blocking and check.sign == "good"
    return markup(
        '<tr class="%s">%s<th scope="row"><code>%s</code></th>'
        '<td class="n" data-label="baseline">%s</td><td class="n" data-label="now">%s</td>'
        '<td data-label="change">%s</td><td data-label="rule">%s</td><td>%s %s%s</td></tr>\n',
        check.sign,
        markup("<td>%s</td>", one_line(check.suite, 60)) if several else NONE,
        one_line(check.metric, 80),
        check.baseline,
        check.current,
        figures.tight(check.change),
        figures.tight(check.limit),
        check.icon,
        check.verdict,
        Markup(" <small>not blocking</small>") if quietly else NONE,
    )


def _dimensions(report: Report) -> Markup:
    several, rows, before = len(report.suites) > 1, [], None
    for dimension in dimensions(report):
        suite = one_line(dimension.suite, 60) if dimension.suite != before else ""
        before = dimension.suite
        lines = pieces(dimension, most=6)
        shown = [
            markup("<span>%s%s</span> ", _line(line), " ·" if number < len(lines) else "")
            for number, line in enumerate(lines, 1)
        ]
        rows.append(
            markup(
                '<tr>%s<th scope="row">%s</th><td>%s</td></tr>\n',
                markup("<td>%s</td>", suite) if several else NONE,
                one_line(dimension.title, 60),
                join_markup(shown),
            )
        )
    if not rows:
        return NONE
    return markup(
        '<section><h2>Dimensions</h2><div class="wide" role="region" aria-label="Dimensions" '
        'tabindex="0"><table class="stack dimensions">\n'
        "<thead><tr>%s<th>Dimension</th><th>value (%s)</th></tr></thead><tbody>\n%s"
        "</tbody></table></div></section>\n",
        Markup("<th>Suite</th>") if several else NONE,
        RANGE,
        join_markup(rows),
    )


def _safety(report: Report) -> Markup:
    log = violations.merge_log(report)
    title = violations.title(report, shown=len(log))
    if not title:
        return NONE
    rows = [
        markup(
            '<tr class="bad"><th scope="row"><code>%s</code></th><td>%s</td><td><code>%s</code>'
            "</td><td>%s</td></tr>\n",
            one_line(case, 120),
            step,
            one_line(rule, 80),
            one_line(what, 300),
        )
        for case, step, rule, what in violations.rows(log, suites=len(report.suites) > 1)
    ]
    table = NONE
    if rows:
        table = markup(
            '<div class="wide" role="region" aria-label="Safety violations" tabindex="0"><table>\n'
            "<thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></div>",
            join_markup(markup("<th>%s</th>", name) for name in violations.HEAD),
            join_markup(rows),
        )
    return markup("<section><h2>Safety</h2><p>%s</p>%s</section>\n", _line(title), table)


def _server_logs(suite: SuiteReport, book: case_totals.SuiteBook | None) -> Markup:
    table, unlisted = NONE, NONE
    if book and book.checked:
        rows = (
            markup(
                '<tr><th scope="row"><code>%s</code></th><td class="n">%s</td><td>%s</td>'
                "<td>%s</td><td>%s</td></tr>\n",
                one_line(case, 120),
                number,
                one_line(verdict, 200),
                one_line(missing, 200) or figures.ABSENT,
                one_line(made_up, 200) or figures.ABSENT,
            )
            for case, number, verdict, missing, made_up in book.checked
        )
        table = markup(
            '<div class="wide" role="region" aria-label="Server logs" tabindex="0"><table>\n'
            "<thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></div>",
            _titles(evidence.HEAD, numbers={1}),
            join_markup(rows),
        )
        if book.unlisted:
            unlisted = markup("<p>%s more are in details.jsonl.</p>", book.unlisted)
    return markup(
        "<section><h2>Server logs of %s</h2><p>%s</p>%s%s</section>\n",
        one_line(suite.name, 80),
        _line(evidence.summary(suite)),
        table,
        unlisted,
    )


def _patterns(suite: SuiteReport) -> Markup:
    modes, clusters = NONE, NONE
    if suite.modes:
        rows = (
            markup(
                '<tr><th scope="row">%s</th><td class="n">%s</td><td class="n">%s</td></tr>\n', *row
            )
            for row in patterns.mode_rows(suite)
        )
        modes = markup(
            '<table><thead><tr><th>Mode</th><th class="n">cases</th><th class="n">trials</th></tr>'
            "</thead><tbody>\n%s</tbody></table>",
            join_markup(rows),
        )
    if suite.clusters:
        alike = (
            markup(
                '<tr><td>%s</td><td><code>%s</code></td><td class="n">%s</td><td>%s</td></tr>\n',
                *row,
            )
            for row in patterns.cluster_rows(suite.clusters)
        )
        clusters = markup(
            '<div class="wide" role="region" aria-label="Failures that look alike" tabindex="0">'
            "<table><thead><tr><th>Mode</th><th>failures that look alike</th>"
            '<th class="n">cases</th><th></th></tr></thead><tbody>\n%s</tbody></table></div>',
            join_markup(alike),
        )
    return markup(
        "<section><h2>Failure patterns of %s</h2>\n%s%s%s</section>\n",
        one_line(suite.name, 80),
        _paragraph(patterns.reliability(suite.reliability)) if suite.reliability else NONE,
        modes,
        clusters,
    )


# -------------------------------------------------------------------------------------------- cases


def _cases(report: Report, entries: Sequence[CaseEntry], left_out: Sequence[str]) -> Markup:
    several = len(report.suites) > 1
    return markup(
        "<section><h2>Cases</h2>\n<p>%s</p>\n%s%s"
        '<form class="filter" id="filter" role="search" hidden>\n'
        '<label>Find <input type="search" id="find" autocomplete="off" '
        'placeholder="case, category, code"></label>\n'
        '<label>Show <select id="state"><option value="">all cases</option>'
        '<option value="failing">failing</option><option value="changed">changed</option>'
        '<option value="passing">passing</option></select></label>\n'
        '<output id="found" aria-live="polite"></output>\n</form>\n'
        '<div class="cases" id="cases">\n%s</div></section>\n',
        _line(sentences.case_counts(report)),
        _paragraphs(metric_falls.titles(report)),
        join_markup(markup('<p class="note">%s</p>', text) for text in left_out),
        join_markup(_case(entry, several=several) for entry in entries)
        or Markup("<p>No case was run.</p>\n"),
    )


def _case(entry: CaseEntry, *, several: bool) -> Markup:
    summary = _summary(entry, several=several)
    if not entry.trials:
        template = '<div class="case" data-state="%s">%s</div>\n'
        return markup(template, entry.state, summary)
    question = entry.trials[0]["question"]
    return markup(
        '<details class="case" data-state="%s"><summary>%s</summary>\n<div class="body">\n'
        "%s%s%s%s</div></details>\n",
        entry.state,
        summary,
        markup("<h4>Question</h4><pre>%s</pre>", question) if question else NONE,
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
    codes = [*entry.worse[:2], *(code for code, _ in case.codes.most_common(2))]
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
        join_markup(
            _part(one_line(name), text, any_text=True) for name, text in row["reasons"].items()
        ),
        join_markup(
            _part(f"Not scored by {one_line(name)}", text, any_text=True)
            for name, text in row["unscored"].items()
        ),
        _part("Answer", row["output"]),
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


# ------------------------------------------------------------------------------------------ numbers


def _metrics(report: Report, suite: SuiteReport) -> Markup:
    judged = {gate.metric: gate for gate in report.gates if gate.suite == suite.name}
    groups = (
        markup(
            '<tbody><tr class="dimension"><th colspan="7" scope="rowgroup">%s</th></tr>\n'
            "%s</tbody>\n",
            one_line(dimension.replace("_", " "), 60),
            join_markup(
                _metric(suite, name, judged.get(name)) for name in names if name in suite.metrics
            ),
        )
        for dimension, names in by_dimension(report, suite.name).items()
    )
    return markup(
        '<section><h2>All metrics of %s</h2><div class="wide" role="region" aria-label="Metrics" '
        'tabindex="0"><table>\n<thead><tr><th>Metric</th><th class="n">value</th>'
        '<th class="n">interval</th><th class="n">lowest case</th><th class="n">highest case</th>'
        '<th class="n">trials</th><th>method</th></tr></thead>\n%s</table></div>\n'
        "%s%s%s%s%s%s</section>\n",
        one_line(suite.name, 80),
        join_markup(groups),
        markup("<p>%s</p>", whose) if (whose := whose_intervals(report, suite.name)) else NONE,
        _paragraph(missing_metrics.sentence(report, suite.name)),
        join_markup(markup("<p>%s</p>", _line(said)) for said in people.sentences(suite)),
        _published(suite) if suite.quoted else NONE,
        _categories(suite) if len(suite.categories) > 1 else NONE,
        _most_frequent(suite) if suite.failures_top else NONE,
    )


def _metric(suite: SuiteReport, name: str, gate: GateResult | None) -> Markup:
    estimate = suite.metrics[name]
    limits = gate.limits if gate else ()
    return markup(
        '<tr><th scope="row"><code>%s</code></th><td class="n">%s%s</td><td class="n">%s</td>'
        '<td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td>%s</td></tr>\n',
        one_line(name.partition(".")[2] or name, 80),
        figures.value(estimate.value, estimate.unit, limits=limits),
        markup("<br>%s", in_words(estimate.corrected, estimate.unit))
        if estimate.corrected
        else NONE,
        interval_of(estimate, gate),
        *extremes(estimate, limits),
        estimate.n,
        one_line(estimate.reason or estimate.method, 160),
    )


def _published(suite: SuiteReport) -> Markup:
    rows = (
        markup(
            '<tr><th scope="row"><code>%s</code></th><td class="n">%s</td><td class="n">%s</td>'
            '<td>%s</td><td class="n">%s</td><td>%s</td></tr>\n',
            one_line(metric, 80),
            *others,
        )
        for metric, *others in published_scores.rows(suite)
    )
    return markup(
        '<h4>Quoted</h4><div class="wide" role="region" aria-label="Quoted values" tabindex="0">'
        "<table><thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></div><p>%s.</p>",
        _titles(published_scores.HEAD, numbers={1, 2, 4}),
        join_markup(rows),
        published_scores.NOTE,
    )


def _categories(suite: SuiteReport) -> Markup:
    numbers = range(1, len(categories.HEAD) - 1)
    rows = []
    for name, *others, last in categories.rows(suite):
        figures_of = join_markup(markup('<td class="n">%s</td>', text) for text in others)
        template = '<tr><th scope="row">%s</th>%s<td>%s</td></tr>\n'
        rows.append(markup(template, name, figures_of, last))
    return markup(
        '<h4>Categories</h4><div class="wide" role="region" aria-label="Categories" tabindex="0">'
        "<table><thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></div>",
        _titles(categories.HEAD, numbers=numbers),
        join_markup(rows),
    )


def _most_frequent(suite: SuiteReport) -> Markup:
    *firsts, last = (
        markup("<code>%s</code> %s", one_line(code, 80), times)
        for code, times in suite.failures_top[:10]
    )
    return markup(
        "<p>Most frequent failures: %s%s</p>", join_markup(markup("%s, ", f) for f in firsts), last
    )


def _how(report: Report) -> Markup:
    step = next_step(report)
    return markup(
        "<section><h2>How this was decided</h2><ul>%s</ul></section>\n"
        "<section><h2>What ran</h2><dl>%s</dl></section>\n%s",
        _items(method(report)),
        join_markup(
            markup("<dt>%s</dt><dd>%s</dd>", one_line(name, 80), _line(value))
            for name, value in provenance(report)
        ),
        markup("<section><h2>Next</h2><p>%s</p></section>", _line(step)) if step else NONE,
    )


# ------------------------------------------------------------------------------------------- pieces


def _titles(names: Iterable[str], *, numbers: Iterable[int]) -> Markup:
    """Heads of columns; those of `numbers`, counted from 0, stand at the right."""
    right = set(numbers)
    return join_markup(
        markup('<th class="n">%s</th>' if at in right else "<th>%s</th>", name)
        for at, name in enumerate(names)
    )


def _items(lines: Iterable[Line]) -> Markup:
    return join_markup(markup("<li>%s</li>", _line(line)) for line in lines)


def _paragraphs(lines: Iterable[Line]) -> Markup:
    return join_markup(markup("<p>%s</p>\n", _line(line)) for line in lines)


def _paragraph(line: Line) -> Markup:
    return markup("<p>%s</p>", _line(line)) if line else NONE


def _line(spans: Line) -> Markup:
    return join_markup(map(_span, spans))


def _span(span: Span) -> Markup:
    text = one_line(span.text, 1_000)
    if span.kind == "code":
        body = markup("<code>%s</code>", text)
    elif span.kind == "strong":
        body = markup("<strong>%s</strong>", one_line(span.text))
    else:
        before, after = " " * span.text[:1].isspace(), " " * span.text[-1:].isspace()
        body = markup("%s%s%s", before, text, after)
    if not span.url:
        return body
    return markup('<a href="%s" rel="noopener noreferrer">%s</a>', span.url, body)
