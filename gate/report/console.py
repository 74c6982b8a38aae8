"""The verdict on a terminal or in a log: what failed, which cases, what to do next, and why."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, OverflowMethod
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gate.analysis.severity import by_severity
from gate.records import CaseChange, Report
from gate.report.wording import (
    causes,
    evidence,
    headline,
    metric_falls,
    patterns,
    people,
    plain_counts,
    published_scores,
    rule_changes,
    sentences,
    violations,
)
from gate.report.wording.case_overview import (
    NO_ANSWER,
    FailingCase,
    answer_before,
    list_failing,
    list_still_failing,
    name_still_failing,
)
from gate.report.wording.checks import Check, Sign, keys, list_blocking, list_checks, list_warnings
from gate.report.wording.corrected_judge import corrections_of_checks
from gate.report.wording.cost import spending
from gate.report.wording.dimensions import RANGE, dimensions, in_short
from gate.report.wording.next_step import WHOLE, list_steps, reproduce
from gate.text import spans
from gate.text.escaping import in_ascii, plain
from gate.text.figures import ABSENT
from gate.text.shortening import shorten


class Screen:
    """A rich console that writes to memory; every text is made harmless on its way in."""

    def __init__(self, *, color: bool, unicode: bool, width: int) -> None:
        self.width = width
        self._unicode = unicode
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=width,
            force_terminal=color,
            color_system="standard" if color else None,
            no_color=not color,
            legacy_windows=False,
            emoji=False,
            markup=False,
            highlight=False,
        )

    def make_safe(self, text: str, limit: int = 1_200) -> str:
        line = plain(shorten(text, limit))
        if self._unicode:
            return line
        return in_ascii(line)

    def line(
        self, text: str, style: str = "", *, wrap: bool = True, indent: int = 0, limit: int = 1_200
    ) -> None:
        """`indent`: columns before it, also where it is folded."""
        shown = self.make_safe(text, limit)
        if wrap:
            self._console.print(Padding(Text(shown, style=style), (0, 0, 0, indent)))
        else:
            self._console.print(Text(" " * indent + shown, style=style), soft_wrap=True)

    def table(self, head: Sequence[str], rows: Iterable[Sequence[Text]], *, unfolded: int) -> None:
        """The first `unfolded` columns are never folded, only cut, and then end with `…`."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for number, name in enumerate(head):
            keep = number < unfolded
            overflow: OverflowMethod = "ellipsis" if keep else "fold"
            table.add_column(self.make_safe(name), overflow=overflow, no_wrap=keep)
        for row in rows:
            table.add_row(*row)
        self._console.print(table)

    def list(
        self,
        rows: Iterable[tuple[str, str]],
        *,
        indent: int = 0,
        limit: int = 1_200,
        styles: tuple[str, str] = ("dim", ""),
    ) -> None:
        """A name and its text a row; the text is folded at words, below its own first word."""
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True, style=styles[0])
        grid.add_column(overflow="fold", style=styles[1])
        for name, text in rows:
            grid.add_row(self.make_safe(name), self.make_safe(text, limit))
        self._console.print(Padding(grid, (0, 0, 0, indent)))

    def cell(self, text: str, style: str = "") -> Text:
        return Text(self.make_safe(text), style=style)

    def text(self) -> str:
        """What was printed; folding may have moved a sign to the start of a line, so once more."""
        return "".join(
            _harmless(line.rstrip() if self._unicode else in_ascii(line.rstrip())) + "\n"
            for line in self._out.getvalue().split("\n")[:-1]
        )


def _harmless(line: str) -> str:
    return line.replace("##[", "# #[") if not line.lstrip().startswith("::") else f". {line}"


ROWS = 25
CASES = 10
FALLS, FALLEN = 2, 5  # metrics, and cases of each
WIDE = 120  # columns of a terminal that has room for the rule
VIOLATIONS, MODES = 5, 5
CAUSES, WORST = 3, 3  # causes, and failing cases with their texts
WHY = 120  # characters of a reason
TOLD = 200  # characters of a question or an answer
ROOMY = 100  # of one with room for the metric of a group, such as a repository
NARROW = 80  # fewer have no room for a table
_COLUMNS = ("", "suite", "metric", "baseline", "now", "change", "rule", "verdict")
_COLORS: dict[Sign, str] = {
    "bad": "bold red",
    "refused": "bold red",
    "unsure": "yellow",
    "warn": "yellow",
    "accepted": "cyan",
    "open": "cyan",
    "new": "cyan",
    "noted": "cyan",
    "good": "green",
}
_OUTCOME_COLORS = {"pass": "bold green", "fail": "bold red", "error": "bold red"}
_WORDS: dict[Sign, str] = {
    "bad": "FAIL",
    "refused": "FAIL",
    "unsure": "?",
    "warn": "warn",
    "accepted": "taken",
    "open": "open",
    "new": "new",
    "noted": "-",
    "good": "ok",
}


def render_console(
    report: Report,
    *,
    color: bool,
    unicode: bool,
    width: int,
    folded: bool = False,
    show: str = "",
    page: str = "report.html",
) -> str:
    """Lines ended by \\n; the first has what happened, the last one the outcome and its reason, on
    one line unless `folded`. `show`: a command that opens the whole report; `page`: the
    file that has it.

    No line can be a workflow command, whatever the report holds. `unicode` false: ASCII only.
    """
    screen = Screen(color=color, unicode=unicode, width=max(40, width))
    word = headline.word(report.outcome).upper()
    style = "bold yellow"
    if not headline.is_doubted(report) or report.outcome != "pass":
        style = _OUTCOME_COLORS.get(report.outcome, style)
    screen.list([(word, headline.clause(report))], styles=(style, style))
    if counts := spans.plain(plain_counts.passing(report), limit=1_000):
        screen.line(counts)
    _show_causes(screen, report)
    _show_cautions(screen, report)
    _checks(screen, report, list_blocking(report))
    if weights := spans.plain(plain_counts.describe_weighting(report, keys(list_blocking(report)))):
        screen.line(weights)
    worse = spans.plain(sentences.warn_only(list_warnings(report)))
    if worse:
        screen.line(worse, _COLORS["warn"])
    for line in list(corrections_of_checks(report, list_checks(report)))[:ROWS]:
        screen.line(spans.plain(line))
    _violations(screen, report)
    _cases(screen, report, show or page)
    _patterns(screen, report)
    if report.outcome == "pass" or not any(row.n_paired for row in report.comparisons):
        _dimensions(screen, report)
    for line in published_scores.lines(report)[:ROWS]:
        screen.line(spans.plain(line))
    for line in (*evidence.lines(report)[:ROWS], *people.lines(report)[:ROWS]):
        screen.line(spans.plain(line))
    screen.line("")
    for line in sentences.comparisons(report, sources=True):
        screen.line(spans.plain(line))
    screen.line(spans.plain(spending(report)))
    for line in sentences.foreseen(report)[:ROWS]:
        screen.line(spans.plain(line))
    if decided := spans.plain(headline.decision(report), limit=1_000):
        screen.line(decided, "bold")
    _show_steps(screen, report, show, folded=folded)
    reason = spans.plain(headline.because(report), limit=1_000)
    screen.line(f"{word}: {reason}", style, wrap=folded)
    return screen.text()


def _show_causes(screen: Screen, report: Report) -> None:
    """What newly failing cases have in common."""
    if not report.causes:
        return
    screen.line("")
    lines = causes.titled(report)
    screen.list(
        ((t, spans.plain(line)) for t, line in lines[:CAUSES]), indent=2, styles=("bold", "")
    )
    if more := len(lines) - CAUSES:
        screen.line(f"{more} more in report.md", indent=2) if more > 0 else None


def _show_steps(screen: Screen, report: Report, show: str, *, folded: bool) -> None:
    """What to do now, each on a line of its own. A command that is folded cannot be pasted."""
    begin = "Next: "
    again = reproduce(report)
    for command in (again, show if again else ""):
        if command:
            screen.line(begin + command, wrap=False, indent=6 - len(begin), limit=2 * WHOLE)
            begin = ""
    for step in list_steps(report):
        words = spans.plain(step, limit=WHOLE)
        screen.line(begin + words, wrap=folded, indent=6 - len(begin), limit=2 * WHOLE)
        begin = ""


def _show_cautions(screen: Screen, report: Report) -> None:
    """What a reader must know before the figures."""
    if report.loosened:
        screen.line(rule_changes.title(report), "yellow")
    for line in rule_changes.list_loosened(report)[:ROWS]:
        screen.line(f"Loosened: {spans.plain(line)}", "yellow")
    if len(report.loosened) > ROWS:
        screen.line(f"{len(report.loosened) - ROWS} more in report.md", "yellow")
    for line in rule_changes.list_falls_of_main(report)[:ROWS]:
        screen.line(spans.plain(line), "yellow")
    for line in rule_changes.list_accepted(report):
        screen.line(spans.plain(line), "cyan")
    for line in sentences.cautions(report)[:ROWS]:
        screen.line(f"Note: {spans.plain(line)}", "yellow")


def _checks(screen: Screen, report: Report, checks: Sequence[Check]) -> None:
    if not checks:
        return
    several = len(report.suites) > 1
    screen.line("")
    if screen.width < NARROW:
        for check in checks[:ROWS]:
            screen.line(_sentence(check, named=several), _COLORS[check.sign])
        return
    room = 36 if several or screen.width < ROOMY else 46
    rows = [_row(screen, check, room) for check in checks[:ROWS]]
    left_out = {*(() if several else ("suite",)), *(() if screen.width >= WIDE else ("rule",))}
    screen.table(
        [name for name in _COLUMNS if name not in left_out],
        ([row[n] for n, name in enumerate(_COLUMNS) if name not in left_out] for row in rows),
        unfolded=4 + several,
    )
    if len(checks) > ROWS:
        screen.line(f"{len(checks) - ROWS} more in report.md")


def _sentence(check: Check, *, named: bool) -> str:
    where = f"{shorten(check.suite, 14)} " if named else ""
    words = [f"{check.baseline} → {check.current}", check.change, check.verdict]
    verdicts = ", ".join(word for word in words if word not in ("", ABSENT))
    return f"{_WORDS[check.sign]} {where}{shorten(check.metric, 36)}: {verdicts}"


def _row(screen: Screen, check: Check, room: int) -> list[Text]:
    """One cell a column; `room`: characters of a metric."""
    return [
        screen.cell(_WORDS[check.sign], _COLORS[check.sign]),
        screen.cell(shorten(check.suite, 14)),
        screen.cell(shorten(check.metric, room)),
        *(screen.cell(text) for text in (check.baseline, check.current, check.change, check.limit)),
        screen.cell(check.verdict),
    ]


def _dimensions(screen: Screen, report: Report) -> None:
    """A row a dimension of each suite, its main metrics in it."""
    measured = dimensions(report)
    if not measured:
        return
    several = len(report.suites) > 1
    most = 3 if screen.width >= WIDE else 2
    rows = []
    for n, row in enumerate(measured[:ROWS]):
        named = "" if n and measured[n - 1].suite == row.suite else shorten(row.suite, 14)
        figures_in_short = spans.plain(in_short(row, most=most), limit=1_000)
        rows.append(
            [
                screen.cell(text)
                for text in (*([named] if several else []), row.title, figures_in_short)
            ]
        )
    screen.line("")
    head = [*(["suite"] if several else []), "dimension", f"mean ({RANGE})"]
    screen.table(head, rows, unfolded=len(head) - 1)
    if len(measured) > ROWS:
        screen.line(f"{len(measured) - ROWS} more in report.md")


def _cases(screen: Screen, report: Report, rest: str) -> None:
    """The newly failing cases, or those that fail where nothing is compared: the worst with their
    texts, or a table of them; with room left, those that fail as before; then those that made a
    metric worse. `rest`: what shows the others.
    """
    if counts := spans.plain(sentences.case_counts(report)):
        screen.line("")
        screen.line(counts)
    failing = list_failing(report)
    worst = [case for case in failing[:WORST] if case.texts is not None]
    for case in worst:
        _show_case(screen, report, case)
    if worst and (more := len(failing) - len(worst)):
        _tell_more(screen, more, rest)
    if not worst:
        _list_newly_failing(screen, report)
    _still_failing(screen, report, room=WORST - len(worst), rest=rest)
    _falls(screen, report)


def _still_failing(screen: Screen, report: Report, *, room: int, rest: str) -> None:
    """Cases that fail and are no news, as many as there is `room` for."""
    failing = list_still_failing(report)
    shown = failing[:room]
    if not shown:
        return
    screen.line("")
    screen.line(name_still_failing(report, shown))
    for case in shown:
        _show_case(screen, report, case)
    if more := len(failing) - len(shown):
        _tell_more(screen, more, rest)


def _tell_more(screen: Screen, more: int, rest: str) -> None:
    screen.line("")
    screen.line(f"{more} more: {rest}", indent=2, wrap=False)


def _show_case(screen: Screen, report: Report, case: FailingCase) -> None:
    named = f"{case.suite}: {case.case_id}" if len(report.suites) > 1 else case.case_id
    title = f"{named}: {_rounds(case.change)}" if case.change else named
    screen.line("")
    screen.line(title, "bold", indent=2)
    screen.list(_told(report, case), indent=4, limit=TOLD)


def _told(report: Report, case: FailingCase) -> Iterator[tuple[str, str]]:
    texts, change = case.texts, case.change
    if texts is not None:
        yield "asked", texts.asked
        if texts.expected:
            yield "expected", texts.expected
        if (was := answer_before(report, case)) is not None:
            yield "before", was
        yield "now", NO_ANSWER if texts.now is None else texts.now
    why = _why(change) if change is not None else shorten(texts.why, WHY) if texts else ""
    if why:
        yield "why", why


def _rounds(change: CaseChange) -> str:
    """`passed 6 of 6 in the baseline, 0 of 1 now`."""
    was = f"{change.baseline_passed} of {change.baseline_rounds}"
    return f"passed {was} in the baseline, {change.current_passed} of {change.current_rounds} now"


def _list_newly_failing(screen: Screen, report: Report) -> None:
    """Where their answers are not at hand."""
    failing = by_severity(report.cases.newly_failing)
    if not failing:
        return
    several = len(report.suites) > 1
    screen.table(
        ["case", "baseline → now", "why"],
        (
            [
                screen.cell(shorten(f"{c.suite}: {c.case_id}" if several else c.case_id, 40)),
                screen.cell(sentences.rounds(c)),
                screen.cell(_why(c)),
            ]
            for c in failing[:CASES]
        ),
        unfolded=2,
    )
    if len(failing) > CASES:
        screen.line(f"{len(failing) - CASES} more in report.md")


def _why(change: CaseChange) -> str:
    reason = shorten(change.reason or ", ".join(change.failures[:2]), WHY)
    return ": ".join(part for part in (patterns.words(change.mode), reason) if part)


def _violations(screen: Screen, report: Report) -> None:
    log = violations.merge_log(report)[:VIOLATIONS]
    if not violations.total(report):
        return
    screen.line("")
    screen.line(spans.plain(violations.title(report, shown=len(log))), "bold red")
    rows = violations.rows(log, suites=len(report.suites) > 1)
    screen.table(
        [name.lower() for name in violations.HEAD],
        ([screen.cell(shorten(text, 120)) for text in row] for row in rows),
        unfolded=2,
    )


def _patterns(screen: Screen, report: Report) -> None:
    """How far the cases of a suite can be relied on, and why trials failed, unless the causes say
    it.
    """
    for suite in report.suites.values():
        name = f" of {shorten(suite.name, 14)}" if len(report.suites) > 1 else ""
        sentence = spans.plain(patterns.reliability(suite.reliability))
        if sentence and not plain_counts.tells_all(suite):
            screen.line(f"Reliability{name}: {sentence}")
        if suite.modes and not report.causes:
            shown = [f"{mode} ({cases})" for mode, cases, _ in patterns.mode_rows(suite)[:MODES]]
            more = len(suite.modes) - MODES
            shown += [f"and {more} more"] if more > 0 else []
            screen.line(f"Failure modes{name} (cases): {', '.join(shown)}")


def _falls(screen: Screen, report: Report) -> None:
    """What blocks although no grader fails these cases for it."""
    for fall in metric_falls.list_open(report, most=FALLS):
        cases = fall.worst[:FALLEN]
        screen.line("")
        screen.line(spans.plain(metric_falls.title(report, fall, shown=len(cases))))
        screen.table(
            ["case", "baseline → now", "why"],
            (
                [
                    screen.cell(shorten(case.case_id, 40)),
                    screen.cell(metric_falls.change(fall, case)),
                    screen.cell(shorten(case.reason, 120)),
                ]
                for case in cases
            ),
            unfolded=2,
        )
