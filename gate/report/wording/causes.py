"""What newly failing cases have in common, in words: one text for comment, page and terminal."""

from __future__ import annotations

from gate.analysis.failures.modes import ORDER
from gate.records import CausePart, FailureCause, FailureMode, Report
from gate.report.wording import patterns
from gate.text import figures
from gate.text.shortening import shorten
from gate.text.spans import Line, code, join, plain, say

NAMED = 3  # cases of a cause
_NAME, _VALUE = 60, 40  # characters
_ANSWERS = {  # by kind
    "empty": "empty answers",
    "error_text": "answers that are the text of an error",
    "abstains": "answers “I do not know” where something was expected",
    "answers": "answers something where “I do not know” was expected",
    "form": "the expected answer, but for case, spaces or punctuation",
    "more_text": "the expected answer with more text around it",
    "no_json": "no JSON where JSON was expected",
    "json_in_text": "JSON with other text around it",
    "date_form": "the expected date in another form",
    "scale": "the expected number in another unit or scale",
    "other_number": "another number than the expected one",
    "no_number": "no number where one was expected",
}
_MODES: dict[str, FailureMode] = {str(mode): mode for mode in ORDER}


def lines(report: Report) -> tuple[Line, ...]:
    """`Cause 1 (32 of 33 cases): ...` for each cause: what, three cases, how often it
    is elsewhere.
    """
    return tuple(join("", [say("{}: ", name), line]) for name, line in titled(report))


def titled(report: Report) -> tuple[tuple[str, Line], ...]:
    """`Cause 1 (32 of 33 cases)` and what is told of it, for each cause."""
    return tuple(
        (title(report, number, cause), join("", [what(cause), _such_as(cause), _also(cause)]))
        for number, cause in enumerate(report.causes, start=1)
    )


def in_short(report: Report) -> str:
    """`search_documents.top_k 5 → 1`: the first cause, where it is behind most of what newly fails;
    else empty. Hostile text.
    """
    if not report.causes:
        return ""
    first = report.causes[0]
    covers = 2 * len(first.cases) > len(report.cases.newly_failing)
    says = first.parts[0].kind != "category"
    return plain(describe(first.parts[0])) if covers and says else ""


def title(report: Report, number: int, cause: FailureCause) -> str:
    """`Cause 1 (32 of 33 cases)`, of those that newly fail; `Cause 2 (23 of them)` where earlier
    ones have all of its cases. With its suite where there are several.
    """
    suite = f" of {shorten(cause.suite, _NAME)}" if len(report.suites) > 1 else ""
    begin, cases = f"Cause {number}{suite}", len(cause.cases)
    if number > 1 and cause.shared == cases:
        return f"{begin} ({cases:,} of them)"
    newly = sum(change.suite == cause.suite for change in report.cases.newly_failing)
    before = f", {cause.shared:,} of them named above" if cause.shared else ""
    of = "all " if 1 < cases == newly else f"{cases:,} of " if cases < newly else ""
    return f"{begin} ({of}{figures.count(newly, 'case')}{before})"


def what(cause: FailureCause) -> Line:
    """`a` is no longer called, nor is `b` (21 cases): its parts, further ones with their cases."""
    first, *more = cause.parts
    also = (
        say("{} ({})", _further(part, first), figures.count(part.cases, "case")) for part in more
    )
    return join(", ", [describe(first), *also])


def _further(part: CausePart, first: CausePart) -> Line:
    if part.kind == first.kind == "tool_gone":
        return say("nor is {}", code(shorten(part.what, _NAME)))
    return describe(part)


def describe(part: CausePart) -> Line:
    """One thing that cases have in common."""
    name = code(shorten(part.what, _NAME))
    if part.kind == "argument":
        if not part.was and not part.now:
            return say("{} has another value", name)
        return say("{} {} → {}", name, _value(part.was), _value(part.now))
    if part.kind == "mode":
        mode = _MODES.get(part.what)
        return say("{}", patterns.words(mode) if mode else shorten(part.what, _NAME))
    if part.kind == "answer":
        return say("{}", _ANSWERS.get(part.what, shorten(part.what, _NAME)))
    template = {
        "tool_gone": "{} is no longer called",
        "tool_new": "{} is newly called",
        "category": "category {}",
    }[part.kind]
    return say(template, name)


def elsewhere(cause: FailureCause) -> Line:
    """`also in 71 of 71 cases that still pass`: how often others have it; empty where nothing is
    known of others.
    """
    part = cause.parts[0]
    if not part.of_elsewhere:
        return ()
    kinds = {"answer": "other cases", "mode": "other failing cases", "category": "other cases"}
    others = f"{part.of_elsewhere:,} {kinds.get(part.kind, 'cases that still pass')}"
    return say(
        f"also in {part.elsewhere:,} of {others}" if part.elsewhere else f"in none of {others}"
    )


def numbers_of(report: Report) -> dict[tuple[str, str], tuple[int, ...]]:
    """Suite and case -> the numbers of its causes."""
    numbers: dict[tuple[str, str], tuple[int, ...]] = {}
    for number, cause in enumerate(report.causes, start=1):
        for case in cause.cases:
            numbers[cause.suite, case] = (*numbers.get((cause.suite, case), ()), number)
    return numbers


def _such_as(cause: FailureCause) -> Line:
    """`, such as metric-003, policy-003`; `, in metric-003` where these are all."""
    named = join(", ", (say("{}", code(shorten(case, 48))) for case in cause.cases[:NAMED]))
    return join("", [say(", such as " if len(cause.cases) > NAMED else ", in "), named])


def _also(cause: FailureCause) -> Line:
    others = elsewhere(cause)
    return join("", [say("; "), others]) if others else ()


def _value(text: str) -> Line:
    """JSON as it is, where it is a number or a word; absent as a word."""
    if not text:
        return say("absent")
    shown = shorten(text, _VALUE)
    plain = shown.replace(".", "", 1).lstrip("-").isdigit() or shown in ("true", "false", "null")
    return say("{}", shown if plain else code(shown))
