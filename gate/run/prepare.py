"""From a checked config to suites that can run: graders made, datasets checked, cases chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import partial

from gate.analysis.catalogue import collect_k
from gate.analysis.expected import list_expected_keys
from gate.errors import InvalidInput, Problem, UsageError
from gate.files import bundled
from gate.files.rows import DatasetSource
from gate.plugins import Grader
from gate.records import Case, Looks, MetricSpec, Suite
from gate.run.batches import PreparedSuite
from gate.run.grade import make_graders
from gate.run.suite_metrics import map_reasons, specs_of
from gate.run.trial_worker import AskOwn
from gate.store.session import SuiteMeta
from gate.suites.cases.dataset import CasePlaces, Summary, check, dataset_digest, read_cases
from gate.suites.cases.sampling import choose, in_shard
from gate.suites.protection.digests import grader_digests, list_edited_columns
from gate.suites.protection.loosening.cases import CaseDrift, find_case_drift, list_loosened_cases
from gate.suites.protection.rules import Rules
from gate.text.figures import join_words
from gate.text.pasted import find_pasted
from gate.text.shortening import shorten
from gate.text.suggestions import nearest

_SHOWN, _FEW = 80, 12  # characters of an id, and cases that are all named


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which cases of a suite run: those that meet every given condition (docs/semantics.md 8)."""

    sample: int | None = None  # --sample, wins over the suite's own
    event: str | None = None  # the key of suites[].sample
    shard: tuple[int, int] | None = None
    case_ids: frozenset[str] = frozenset()
    timeout_s: float | None = None  # --timeout


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """One suite, ready to run and to be judged."""

    suite: Suite
    graders: Mapping[str, Grader]
    dataset_digest: str
    digests: Mapping[str, str]  # case id -> content hash, in the order of reading
    chosen: Set[str]
    not_selected: int
    specs: Mapping[str, MetricSpec]
    grader_digests: Mapping[str, str]  # column -> hash of its grader
    read: Callable[[Set[str] | None], Iterator[Case]] = field(repr=False)
    new_cases: frozenset[str] = frozenset()  # run, but do not gate
    loosened: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    edited: Mapping[str, str] = field(default_factory=dict)  # column -> why nothing can compare it
    places: CasePlaces = field(default_factory=CasePlaces)  # in the working tree
    looks: Looks | None = None  # when it is looked at while it runs; None: all its rounds are made
    continued: bool = False  # somebody asked for more trials after its verdict
    timeout_s: float | None = None  # --timeout, which beats what cases say of themselves
    ask: AskOwn | None = field(default=None, repr=False)  # of a suite written as code
    rounds: range | None = None  # of stage 2; None: those of the suite
    expected_keys: frozenset[str] = frozenset()  # of a case, that its row carries

    @property
    def name(self) -> str:
        return self.suite.name

    @property
    def all_ids(self) -> Set[str]:
        return self.digests.keys()

    @property
    def planned(self) -> int:
        """Trials of all rounds that are to be made."""
        return len(self.chosen) * len(self.task_source().numbers)

    def cases(self, part: Set[str] | None = None) -> Iterator[Case]:
        """The chosen cases, or `part` of them, with the suite's request settings; a case's own keys
        win. Raises UsageError if the dataset has changed since the run began.
        """
        common, own_time = self.suite.request, self.timeout_s is None
        wanted = self.chosen if part is None else part
        awaited = (item for item in self.digests.items() if item[0] in wanted)
        for case in self.read(part):
            if case.id in wanted:
                if next(awaited, None) != (case.id, case.digest):
                    raise self._changed(case.id)
                if common:
                    case = replace(case, request={**common, **case.request})
                yield case if own_time else replace(case, timeout_s=self.timeout_s)
        for case_id, _ in awaited:
            raise self._changed(case_id)

    def _changed(self, case_id: str) -> UsageError:
        return UsageError(
            f"{self.meta().dataset}: the case '{case_id[:80]}' has changed since the run "
            "began; restore the dataset and run --resume again, or start a new run"
        )

    def task_source(self) -> PreparedSuite:
        return PreparedSuite(
            suite=self.suite,
            graders=self.graders,
            cases=self.cases,
            ask=self.ask,
            rounds=self.rounds,
        )

    def meta(self) -> SuiteMeta:
        return SuiteMeta(
            dataset=self.suite.suite or bundled.short_path(self.suite.dataset),
            dataset_digest=self.dataset_digest,
            version=self.suite.version,
            rounds=self.suite.rounds,
            cases=len(self.chosen),
            not_selected=self.not_selected,
            specs=self.specs,
            graders=self.grader_digests,
            told_by=map_reasons(self.graders),
            looks=self.looks,
            continued=self.continued,
        )


def prepare(suites: tuple[Suite, ...], rules: Rules, selection: Selection) -> tuple[SuitePlan, ...]:
    """The plans of all suites. Raises InvalidInput with the problems of all their datasets at
    once.
    """
    plans: list[SuitePlan] = []
    problems: list[Problem] = []
    for suite in suites:
        try:
            plans.append(_plan(suite, rules, selection))
        except InvalidInput as error:
            problems.extend(error.problems)
    if problems:
        raise InvalidInput(problems)
    _check_known_cases(plans, selection.case_ids)
    return tuple(plans)


def _plan(suite: Suite, rules: Rules, selection: Selection) -> SuitePlan:
    """Base cases first, then those that only the pull request has: run, but not gating."""
    graders = make_graders(suite.graders, rules.root)
    code = rules.code_of(suite)
    own_source = code.source if code else rules.head_source(suite)
    trusted = None if code else rules.base_source(suite)
    sources = [source for source in (trusted, own_source) if source is not None]
    summaries = [check(source, graders) for source in sources]
    first, rest = summaries[0], summaries[1:]
    added: frozenset[str] = frozenset()
    if rest:
        change = find_case_drift(first.digests, rest[0].digests)
        added = frozenset(change.added)
        loosened = _tell_loosened(suite, change, rest[0], own_source)
    else:
        loosened = _tell_loosened_beside_base(suite, rules, graders, first, own_source)
    if suite.name in rules.new_suites:
        added = frozenset(first.digests)
    digests = {**first.digests, **_only(added - first.digests.keys(), rest)}
    chosen = _choose(suite, first.categories, selection)
    if not added <= chosen:
        # The base's category wins: it decides which cases a sample takes.
        categories = {**(rest[0].categories if rest else {}), **first.categories}
        ids = (*first.digests, *sorted(added))
        chosen |= _choose(suite, {i: categories[i] for i in ids}, selection)
    return SuitePlan(
        suite=suite,
        graders=graders,
        dataset_digest=dataset_digest(digests) if rest else first.digest,
        digests=digests,
        chosen=chosen,
        not_selected=len(first.digests) - len(chosen - (added if rest else frozenset())),
        specs=specs_of(graders, suite.rounds, collect_k(rules.config)),
        grader_digests=grader_digests(suite, graders, rules),
        read=partial(read_cases, sources, summaries, graders, added),
        new_cases=added.intersection(chosen),
        edited=list_edited_columns(suite, graders, rules),
        places=summaries[-1].places if own_source and not code else CasePlaces(),
        timeout_s=selection.timeout_s,
        loosened=loosened,
        warnings=summaries[-1].warnings,
        ask=code.ask if code else None,
        expected_keys=list_expected_keys(graders) if rules.config.report.answers else frozenset(),
    )


def _only(ids: Set[str], rest: list[Summary]) -> dict[str, str]:
    """The content hashes of these cases, which only the pull request has, in file order."""
    return {i: digest for summary in rest for i, digest in summary.digests.items() if i in ids}


def _tell_loosened(
    suite: Suite, change: CaseDrift, summary: Summary, source: DatasetSource | None
) -> tuple[str, ...]:
    found = ((i, summary.places.find(i)) for i in change.edited)
    places = {i: str(place) for i, place in found if place and source}
    return list_loosened_cases(suite.name, change, places)


def _tell_loosened_beside_base(
    suite: Suite,
    rules: Rules,
    graders: Mapping[str, Grader],
    summary: Summary,
    source: DatasetSource | None,
) -> tuple[str, ...]:
    """Which cases are easier where the own dataset is judged by."""
    theirs = rules.source_beside(suite)
    if theirs is None:
        return ()
    try:
        before = check(theirs, graders)
    except InvalidInput:
        return ()  # its cases are for other graders, and that is told
    return _tell_loosened(suite, find_case_drift(before.digests, summary.digests), summary, source)


def _choose(suite: Suite, categories: Mapping[str, str | None], selection: Selection) -> Set[str]:
    wanted = selection.sample or suite.sample.get(selection.event or "", "all")
    chosen: Set[str] = categories.keys()
    if isinstance(wanted, int):
        chosen = choose(categories, suite.name, wanted)
    if selection.shard is not None:
        index, count = selection.shard
        chosen = frozenset(i for i in chosen if in_shard(i, index, count))
    if selection.case_ids:
        chosen = find_pasted(selection.case_ids, categories)
    return chosen


def _check_known_cases(plans: list[SuitePlan], wanted: frozenset[str]) -> None:
    known_ids = sorted({i for plan in plans for i in plan.all_ids}) if wanted else []
    missing = [pasted for pasted in sorted(wanted) if not find_pasted({pasted}, known_ids)]
    if missing:
        names = join_words((shorten(name, _SHOWN) for name in missing), most=5)
        hint = f" - known: {', '.join(known_ids)}" if 0 < len(known_ids) <= _FEW else ""
        if near := nearest(missing[0], known_ids):
            hint = f" - did you mean {join_words(near)}?"
        raise UsageError(f"--case {names}: no such case in the chosen suites{hint}")
