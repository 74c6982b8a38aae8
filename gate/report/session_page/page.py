"""report.html from top to bottom, as its reader sees it. `markup` escapes each value that is filled
in; which cases and trials are shown is for formats/html.py to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gate.records import GateResult, Report, SuiteReport
from gate.report.session_page.case_blocks import CaseBlocks
from gate.report.session_page.cases import CaseEntry, embed_blocks, list_cases
from gate.report.session_page.charts import draw_charts
from gate.report.session_page.sentence_markup import (
    NONE,
    as_markup,
    as_paragraph,
    join_items,
    join_paragraphs,
    join_titles,
)
from gate.report.session_page.spreads import draw_spreads
from gate.report.wording import (
    case_totals,
    categories,
    causes,
    evidence,
    headline,
    patterns,
    people,
    plain_counts,
    published_scores,
    rule_changes,
    sentences,
    violations,
)
from gate.report.wording.case_address import address_case
from gate.report.wording.checks import Check, keys, list_checks
from gate.report.wording.corrected_judge import in_words
from gate.report.wording.cost import spending
from gate.report.wording.dimensions import (
    RANGE,
    by_dimension,
    describe_missing,
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
from gate.text.spans import Line


def page(
    report: Report,
    books: Mapping[str, case_totals.SuiteBook],
    entries: Sequence[CaseEntry],
    blocks: CaseBlocks,
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
            _causes(report),
            *_notes(report),
            _suites(report),
            draw_charts(report),
            _trends(report),
            draw_spreads(report),
            _checks(report),
            _dimensions(report),
            _safety(report),
            *(_server_logs(suite, books.get(suite.name)) for suite in suites if suite.evidence),
            *(_patterns(suite) for suite in suites if suite.modes or suite.reliability),
            list_cases(report, entries, blocks),
            *(_metrics(report, suite) for suite in suites),
            _how(report),
            markup(
                "</main>\n%s<script>%s</script>\n</body>\n</html>\n", embed_blocks(blocks), script
            ),
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
        as_paragraph(plain_counts.passing(report)),
        as_markup(headline.because(report)),
        as_paragraph(decision),
        join_paragraphs((*sentences.comparisons(report), *sentences.foreseen(report))),
        as_markup(spending(report)),
        markup(" · %s", as_markup(run_link)) if run_link else NONE,
    )


def _notes(report: Report) -> Iterator[Markup]:
    """What a reader has to know before the numbers."""
    yield _note("note warn", rule_changes.title(report), rule_changes.list_loosened(report))
    yield _note("note warn", "Main itself", rule_changes.list_falls_of_main(report))
    yield _note("note", "Accepted", rule_changes.list_accepted(report))
    yield _note("note", "Read this before you rely on the result", sentences.cautions(report))


def _causes(report: Report) -> Markup:
    """What the newly failing cases have in common, a card each."""
    if not report.causes:
        return NONE
    cards = (
        markup(
            '<article class="card"><h3>%s</h3><p>%s</p><p class="soft">%s</p>'
            "<p>%s%s</p></article>\n",
            title,
            as_markup(causes.what(cause)),
            as_markup(causes.elsewhere(cause)),
            join_markup(
                markup(
                    '<a href="%s"><code>%s</code></a> ',
                    address_case(cause.suite, case),
                    one_line(case, 48),
                )
                for case in cause.cases[: causes.NAMED]
            ),
            f"and {len(cause.cases) - causes.NAMED:,} more"
            if len(cause.cases) > causes.NAMED
            else "",
        )
        for title, cause in (
            (causes.title(report, number, cause), cause)
            for number, cause in enumerate(report.causes, start=1)
        )
    )
    return markup(
        '<section><h2>Why cases newly fail</h2>\n<div class="cards">%s</div></section>\n',
        join_markup(cards),
    )


def _note(kind: str, title: str, lines: Sequence[Line]) -> Markup:
    if not lines:
        return NONE
    template = '<section class="%s"><h2>%s</h2><ul>%s</ul></section>\n'
    return markup(template, kind, title, join_items(lines))


def _suites(report: Report) -> Markup:
    if len(report.suites) < 2:
        return NONE
    rows = (
        markup(
            '<tr><th scope="row">%s</th><td>%s %s</td><td>%s</td></tr>\n',
            one_line(suite.name, 80),
            headline.icon_of(report, suite.name),
            headline.word(suite.outcome),
            as_markup(headline.why(suite)),
        )
        for suite in report.suites.values()
    )
    return markup(
        '<section><h2>Suites</h2><div class="wide" role="region" aria-label="Suites" tabindex="0">'
        "<table>\n<thead><tr><th>Suite</th><th>outcome</th><th>why</th></tr></thead><tbody>\n"
        "%s</tbody></table></div></section>\n",
        join_markup(rows),
    )


def _trends(report: Report) -> Markup:
    if not any(suite.history_runs for suite in report.suites.values()):
        return NONE
    from gate.report.session_page.trends import draw_trends

    return draw_trends(report)


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
        as_paragraph(plain_counts.describe_weighting(report, keys(rows))),
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
            markup("<span>%s%s</span> ", as_markup(line), " ·" if number < len(lines) else "")
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
        "<thead><tr>%s<th>Dimension</th><th>mean (%s)</th></tr></thead><tbody>\n%s"
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
    return markup("<section><h2>Safety</h2><p>%s</p>%s</section>\n", as_markup(title), table)


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
            join_titles(evidence.HEAD, numbers={1}),
            join_markup(rows),
        )
        if book.unlisted:
            unlisted = markup("<p>%s more are in details.jsonl.</p>", book.unlisted)
    return markup(
        "<section><h2>Server logs of %s</h2><p>%s</p>%s%s</section>\n",
        one_line(suite.name, 80),
        as_markup(evidence.summary(suite)),
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
                *map(one_line, row),
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
        as_paragraph(patterns.reliability(suite.reliability)) if suite.reliability else NONE,
        modes,
        clusters,
    )


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
        as_paragraph(describe_missing(report, suite.name)),
        join_markup(markup("<p>%s</p>", as_markup(said)) for said in people.sentences(suite)),
        _published_values(suite) if suite.quoted else NONE,
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


def _published_values(suite: SuiteReport) -> Markup:
    rows = (
        markup(
            '<tr><th scope="row"><code>%s</code></th><td class="n">%s</td><td class="n">%s</td>'
            '<td>%s</td><td class="n">%s</td><td>%s</td></tr>\n',
            one_line(metric, 80),
            *map(one_line, others),
        )
        for metric, *others in published_scores.rows(suite)
    )
    return markup(
        '<h4>Quoted</h4><div class="wide" role="region" aria-label="Quoted values" tabindex="0">'
        "<table><thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></div><p>%s.</p>",
        join_titles(published_scores.HEAD, numbers={1, 2, 4}),
        join_markup(rows),
        published_scores.NOTE,
    )


def _categories(suite: SuiteReport) -> Markup:
    numbers = range(1, len(categories.HEAD) - 1)
    rows = []
    for name, *others, last in categories.rows(suite):
        figures_of = join_markup(markup('<td class="n">%s</td>', text) for text in others)
        template = '<tr><th scope="row">%s</th>%s<td>%s</td></tr>\n'
        rows.append(markup(template, one_line(name), figures_of, last))
    return markup(
        '<h4>Categories</h4><div class="wide" role="region" aria-label="Categories" tabindex="0">'
        "<table><thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></div>",
        join_titles(categories.HEAD, numbers=numbers),
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
    step, decided = next_step(report), method(report)
    return markup(
        "%s<section><h2>What ran</h2><dl>%s</dl></section>\n%s",
        markup("<section><h2>How this was decided</h2><ul>%s</ul></section>\n", join_items(decided))
        if decided
        else NONE,
        join_markup(
            markup("<dt>%s</dt><dd>%s</dd>", one_line(name, 80), as_markup(value))
            for name, value in provenance(report)
        ),
        markup("<section><h2>Next</h2><p>%s</p></section>", as_markup(step)) if step else NONE,
    )
