"""What a person reads in a report, as rows of named figures, from each form of it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

Row = Mapping[str, str]  # head of the column -> cell

_SPACES = str.maketrans({"\N{NO-BREAK SPACE}": " ", "\u200b": ""})
_SIGN = re.compile(r"(?:FAIL|\?|warn|taken|open|new|ok)  ")
_NUMBER = re.compile(r"−?\$?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One row about one metric. `suite` is empty where the form names none."""

    where: str
    suite: str
    metric: str
    cells: Row


def text_of(markdown: str) -> str:
    """Markdown as it looks, near enough: entities, emphasis, code marks and backslashes gone."""
    plain = html.unescape(markdown).translate(_SPACES)
    plain = re.sub(r"</?(?:details|summary)>", "\n", plain)
    return re.sub(r"\\([^\s\w]|_)", r"\1", plain.replace("**", "").replace("`", ""))


def in_markdown(where: str, markdown: str) -> Iterator[Read]:
    """The rows of all tables about metrics. A heading or a fold says whose they are."""
    head: list[str] = []
    suite, below = "", ""
    for line in text_of(markdown).splitlines():
        if found := re.match(r"## Suite (\S+)|All metrics of (\S+)", line):
            below = found[1] or found[2]
        if not line.startswith("| "):
            head = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not head:
            head = [cell.split(" (")[0] for cell in cells]
            continue
        if set(line) <= set("|:- "):
            continue
        row = dict(zip(head, cells, strict=False))
        suite = row.get("Suite", below)
        for name in ("Metric", "Blocking"):
            if name in row and "now" in row:
                yield Read(where=where, suite=suite, metric=row[name], cells=row)


class _Page(HTMLParser):
    """Tables with the headings above them, and the text without scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[list[str]]]] = []
        self.text: list[str] = []
        self._tags: list[str] = []
        self._heading = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "h2":
            self._heading = ""
        elif tag == "table":
            self.tables.append((self._heading, []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][1][-1].append("")
        if tag not in ("meta", "input", "br"):
            self._tags.append(tag)
        if tag in ("p", "h1", "h2", "li", "tr", "td"):
            self.text.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._tags:
            while self._tags.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "script" in self._tags or "style" in self._tags:
            return
        data = data.translate(_SPACES)
        if self._heading != "Cases":
            self.text.append(data)
        if "h2" in self._tags:
            self._heading += data
        if "th" in self._tags or "td" in self._tags:
            self.tables[-1][1][-1][-1] += data


def in_page(where: str, page: str) -> tuple[list[Read], str]:
    """The same of report.html, and its text but for the list of cases."""
    read, found = _Page(page), []
    for heading, lines in read.tables:
        head = [cell.strip() for cell in lines[0]] if lines else []
        if "Metric" not in head:
            continue
        suite = heading.removeprefix("All metrics of ") if "All metrics" in heading else ""
        dimension = ""
        for line in lines[1:]:
            if len(line) == 1:
                dimension = line[0].strip().replace(" ", "_") + "."
                continue
            row = dict(zip(head, (cell.strip() for cell in line), strict=True))
            if suite:
                row["now"] = row.pop("value")
            metric = dimension + row["Metric"]
            found.append(Read(where=where, suite=row.get("Suite", suite), metric=metric, cells=row))
    return found, "".join(read.text)


def in_terminal(where: str, lines: Sequence[str]) -> Iterator[Read]:
    """The blocking table of a terminal that is wide enough for it."""
    start = next(
        (n for n, line in enumerate(lines) if re.match(r" +(suite +)?metric ", line)), None
    )
    if start is None:
        return
    head = lines[start]
    names = ["sign", *head.split()]
    at = [0, *(found.start() for found in re.finditer(r"\S+", head))]
    for line in lines[start + 1 :]:
        if not _SIGN.match(line):
            return
        cells = [line[a:b].strip() for a, b in zip(at, [*at[1:], None], strict=True)]
        row = dict(zip(names, cells, strict=True))
        yield Read(where=where, suite=row.get("suite", ""), metric=row["metric"], cells=row)


def numbers(shown: str) -> list[float]:
    """The numbers in a figure, such as both ends of an interval."""
    return [
        float(found.replace("−", "-").replace("$", "").replace(",", ""))
        for found in _NUMBER.findall(shown)
    ]


def half_a_digit(shown: str) -> float:
    """How far the first number in a figure may be from the one that it stands for."""
    found = _NUMBER.search(shown)
    decimals = found[0].partition(".")[2] if found else ""
    return 0.5 * 10.0 ** -len(decimals)
