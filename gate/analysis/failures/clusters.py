"""Failures that look alike, counted while the run goes on: the same in whatever order they come."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gate.analysis.failures.modes import ORDER, deciding, mode_in, most_frequent
from gate.records import Cluster, FailureMode, ModeCount, TrialRow
from gate.text.late_pattern import late_pattern
from gate.text.shortening import shorten

MASK = "*"
_DETAIL = 100  # of a code
# Codes whose detail is what the one case wants or the one answer says.
_OF_THE_CASE = frozenset(
    {"fact_missing", "forbidden_fact", "text_missing", "pattern_missing", "forbidden_pattern_hit"}
    | {"unsupported_number"}
)
_DETAILS = late_pattern(
    # A status is no detail: 404 is another failure than 500.
    r"(?P<kept>\b(?:answered|http(?:/[\d.]+)?|status|code|signal)[ :=]+\d{1,3}\b)"
    r"|(?P<masked>"
    r"(?<!\w)'[^']{0,200}'(?!\w)|\"[^\"]{0,200}\"|`[^`]{0,200}`|\u201c[^\u201d]{0,200}\u201d"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b0x[0-9a-f]+\b"
    r"|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b"  # a digest or an id
    r"|\b(?=[a-z]*\d)[a-z\d]{16,}\b"  # a token
    r"|[+-]?\d+(?:[.,:]\d+)*"
    r")",
    re.IGNORECASE,
)
_RUN = late_pattern(r"\*(?:[-T_/:.,]?\*)+Z?")


def mask_details(text: str) -> str:
    """The text with `*` for numbers, ids and what stands in quotes; statuses stay."""
    shown = _DETAILS.sub(lambda detail: detail["kept"] or MASK, text)
    return _RUN.sub(MASK, shown)


def mask_code(code: str) -> str:
    """`wrong_tool_args:run_sql` as it is, `fact_missing:4.2 %` as `fact_missing`."""
    head, colon, detail = code.partition(":")
    if head in _OF_THE_CASE:
        return head
    return mask_details(f"{head[:_DETAIL]}{colon}{detail[:_DETAIL]}")


MOST = 1000  # clusters of one mode that are kept apart
TOP = 10  # that are told
CASES = 5  # of a cluster
_LABEL = 200  # characters
_LENGTHS = (16, 8, 4, 2, 1, 0)  # words of what failures share, from fine to coarse
_ALIKE = 2 / 3  # of the words of two error texts that are one
_CUT = "..."
_SPOKEN = ("timeout", "agent_error")  # modes that an error's text tells about, and no code

Words = tuple[str, ...]

# Where the mode shows without a code.
_SHOWN: Mapping[FailureMode, str] = {
    "refusal": "declines to answer",
    "retrieval_miss": "nothing relevant retrieved",
    "hallucinated_data": "an unsupported number",
    "format": "empty or cut off",
}


@dataclass(slots=True)
class _Group:
    """The clusters of one mode: what they share -> case -> trials.

    Where there are too many, all are cut to fewer words. The length that is left is the first at
    which all failures make no more than MOST clusters, so it depends on no order.
    """

    clusters: dict[Words, Counter[str]] = field(default_factory=dict)
    level: int = 0

    def add(self, words: Words, case: str) -> None:
        words = _cut(words, _LENGTHS[self.level])
        self.clusters.setdefault(words, Counter())[case] += 1
        while len(self.clusters) > MOST:
            self._coarsen()

    def _coarsen(self) -> None:
        self.level += 1
        finer, self.clusters = self.clusters, {}
        for words, cases in finer.items():
            self.clusters.setdefault(_cut(words, _LENGTHS[self.level]), Counter()).update(cases)


@dataclass(slots=True)
class Failures:
    """The failed trials of one suite by mode and cluster. Grows row by row, in any order; in memory
    are the ids of failed cases and at most MOST clusters a mode.
    """

    _groups: dict[FailureMode, _Group] = field(default_factory=dict)

    def add(self, row: TrialRow) -> None:
        mode = mode_in(row)
        if mode is not None:
            self._groups.setdefault(mode, _Group()).add(_shareable_words(row, mode), row["case_id"])

    def modes(self) -> tuple[ModeCount, ...]:
        """Most cases first, then most trials, then the order of the table; empty where nothing
        failed.
        """
        counts = [
            ModeCount(
                mode=mode,
                trials=sum(cases.total() for cases in group.clusters.values()),
                cases=len(set().union(*group.clusters.values())),
            )
            for mode, group in self._groups.items()
        ]
        return tuple(sorted(counts, key=lambda c: (-c.cases, -c.trials, ORDER.index(c.mode))))

    def by_case(self) -> dict[FailureMode, Counter[str]]:
        """Mode -> case -> trials."""
        return {mode: _total(iter(group.clusters.values())) for mode, group in self._groups.items()}

    def mode_of_cases(self) -> dict[str, FailureMode]:
        """Case -> the mode that most of its trials failed in."""
        modes: dict[str, Counter[FailureMode]] = {}
        for mode, failed in self.by_case().items():
            for case, trials in failed.items():
                modes.setdefault(case, Counter())[mode] = trials
        return {case: most for case, some in modes.items() if (most := most_frequent(some))}

    def clusters(self) -> tuple[Cluster, ...]:
        """The TOP, most cases first, then most trials, then the order of the table, then the
        alphabet.
        """
        clusters = [
            Cluster(
                mode=mode,
                label=_label(words, mode),
                trials=cases.total(),
                cases=tuple(sorted(cases, key=lambda case: (-cases[case], case))[:CASES]),
                n_cases=len(cases),
            )
            for mode, group in self._groups.items()
            for words, cases in _merge_alike(group.clusters, mode)
        ]
        clusters.sort(key=lambda c: (-c.n_cases, -c.trials, ORDER.index(c.mode), c.label))
        return tuple(clusters[:TOP])


def _shareable_words(row: TrialRow, mode: FailureMode) -> Words:
    """What a failure may share with others: the words of its error, or its codes."""
    if mode in _SPOKEN and (error := row["error"]):
        words = mask_details(shorten(error)).split()
    else:
        words = sorted({mask_code(code) for code in deciding(row, mode)}) or _silent_codes(
            row, mode
        )
    return _cut(tuple(words), _LENGTHS[0])


def _silent_codes(row: TrialRow, mode: FailureMode) -> list[str]:
    rules = sorted({one["violation"]["rule"] for one in row.get("violations") or ()})
    if mode == "safety":
        return [mask_code(f"safety:{rule}") for rule in rules] or ["safety"]
    return [_SHOWN.get(mode, "no code")]


def _cut(words: Words, most: int) -> Words:
    """The first `most` words; that there were more is told by one word more."""
    if len(words) <= most or (len(words) == most + 1 and words[-1] == _CUT):
        return words
    return (*words[:most], _CUT)


def _label(words: Words, mode: FailureMode) -> str:
    if words == (_CUT,):
        return "many different ones"
    return shorten((" " if mode in _SPOKEN else ", ").join(words), _LABEL)


def _merge_alike(
    groups: Mapping[Words, Counter[str]], mode: FailureMode
) -> Iterator[tuple[Words, Counter[str]]]:
    """Error texts that differ in a few words are one, with a mask where they differ. Like goes with
    like of like (single linkage), so that no order matters.
    """
    if mode not in _SPOKEN:
        yield from groups.items()
        return
    left = sorted(groups)
    while left:
        alike, rest = [left[0]], left[1:]
        for words in alike:  # grows while it is read
            near = {other for other in rest if _near(words, other)}
            alike += sorted(near)
            rest = [other for other in rest if other not in near]
        yield _common(alike), _total(groups[words] for words in alike)
        left = rest


def _near(a: Words, b: Words) -> bool:
    if len(a) != len(b) or not a or a[0] != b[0]:
        return False
    return sum(map(str.__eq__, a, b)) >= _ALIKE * len(a)


def _common(alike: Sequence[Words]) -> Words:
    return tuple(words[0] if len(set(words)) == 1 else MASK for words in zip(*alike, strict=True))


def _total(counts: Iterator[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return total
