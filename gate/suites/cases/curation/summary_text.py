"""The statistics of a dataset as text for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.suites.cases.curation.counting import Figures
from gate.text import figures
from gate.text.escaping import inline
from gate.text.shortening import shorten

_SHOWN = 10  # doubles, leaks and wordings that are named; the rest are counted


def as_text(name: str, found: Figures) -> str:
    lines = [f"{shorten(name)}: {found.cases} cases"]
    width = max((len(title) for title, _ in _counts(found)), default=0)
    for title, counts in _counts(found):
        told = ", ".join(f"{shorten(word, 60)} {n}" for word, n in counts.items()) or "none"
        lines.append(f"  {title:<{width}}  {told}")
    for title, items in _lists(found):
        lines += ["", f"{title}: {len(items)}"]
        lines += [f"  {shorten(item)}" for item in items[:_SHOWN]]
        lines += [f"  and {len(items) - _SHOWN} more"] if len(items) > _SHOWN else []
    return "\n".join(lines)


def as_markdown(name: str, found: Figures) -> str:
    lines = [f"# {inline(name)}", "", f"{found.cases} cases", "", "| | |", "|---|---|"]
    for title, counts in _counts(found):
        told = ", ".join(f"{inline(word, 60)} {n}" for word, n in counts.items()) or "none"
        lines.append(f"| {title} | {told} |")
    for title, items in _lists(found):
        lines += ["", f"## {title}: {len(items)}", ""]
        lines += [f"- {inline(item)}" for item in items[:_SHOWN]]
        lines += [f"- and {len(items) - _SHOWN} more"] if len(items) > _SHOWN else []
    return "\n".join(lines)


def _counts(found: Figures) -> Iterator[tuple[str, Mapping[str, int]]]:
    yield "status", found.statuses
    yield "category", found.categories
    yield "tags", found.tags
    yield "provenance", {**found.provenance, "with a reviewer's name": found.reviewed}
    yield "keys", {key: n for key, n in found.keys.items() if key not in ("id", "input")}
    yield "relevance", {"two or more grades": found.graded, "no document": found.irrelevant}


def _lists(found: Figures) -> Iterator[tuple[str, list[str]]]:
    yield (
        "Near duplicates",
        [f"{double.case} is {_alike(double.similarity)} {double.like}" for double in found.doubles],
    )
    yield (
        "Wordings shared by three or more cases",
        [f"{n} x {wording}" for wording, n in found.wordings.items()],
    )
    yield (
        "Expected answers that the agent can read",
        [f"{leak.case}: in its {leak.where}: {leak.what}" for leak in found.leaks],
    )


def _alike(similarity: float) -> str:
    return "the same as" if similarity == 1.0 else f"{figures.portion(similarity)} the words of"
