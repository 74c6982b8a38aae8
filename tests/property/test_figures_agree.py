"""Whatever a run came to, its reports tell one story: random answers go through the real verdict,
and each form of the report is read back as a person reads it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gate.github.checks import verdict
from gate.records import (
    BaselineInfo,
    Comparison,
    GateResult,
    GateRule,
    MetricRule,
    Policy,
    RegressionRules,
    SuiteReport,
    equal_looks,
)
from gate.records.baseline import BaselineRun
from gate.report.console import render_console
from gate.report.formats.comment import Comment, step_summary
from gate.report.formats.html import Html
from gate.report.formats.junit import JUnit
from gate.report.formats.markdown import Markdown
from gate.report.formats.sarif import Sarif
from gate.report.wording.notes import render_annotations
from gate.report.write_all import summary
from gate.text import figures
from tests.support.drawn_runs import QUIET, Agent, Drawn, Told, answers, concluded, ids
from tests.support.read_back import (
    Read,
    half_a_digit,
    in_markdown,
    in_page,
    in_terminal,
    numbers,
    text_of,
)
from tests.support.reports import FACTS, FAITHFUL, HALLUCINATION, RECALL

SUCCESS = "agent.success_rate"
P95 = "operational.p95_latency_ms"
COST = "agent.cost_per_task"
WORDS = {
    "pass": "Pass",
    "fail": "Fail",
    "inconclusive": "Inconclusive",
    "no_baseline": "No baseline",
    "not_comparable": "Not comparable",
    "error": "Error",
}


# ---------------------------------------------------------------------------------- random reports


def pick(*of: object) -> st.SearchStrategy:
    return st.sampled_from(of)


agents = st.builds(
    Agent,
    fails=pick(0.0, 0.05, 0.05, 0.05, 0.3, 1.0),
    flaky=pick(0.0, 0.1, 0.5),
    breaks=pick(0.0, 0.0, 0.0, 0.1, 0.4),
    misses=pick(0.0, 0.07, 0.07, 0.3),
    invents=pick(0.0, 0.03),
    judged=pick(5.0, 4.4, 3.6),
    slower=pick(0.01, 1.0, 1.3, 40.0),
    dearer=pick(1.0, 300.0),
    lost=pick(*(0.0,) * 8, 0.04, 0.04, 0.3),
    crashes=pick(0.0, 0.0, 0.0, 0.1),
    unscored=pick(*(0.0,) * 5, 0.1, 0.5),
    priced=pick(True, True, False),
    has=pick((), (RECALL, FACTS), (RECALL, FACTS, HALLUCINATION, FAITHFUL)),
    mode=pick("wrong_answer", "wrong_tool"),
)
gates = st.lists(
    st.builds(
        GateRule,
        metric=pick(SUCCESS, SUCCESS, RECALL, FACTS, FAITHFUL),
        min=pick(0.3, 0.5, 0.9, 0.995),
        target=pick(None, 1.0),
        rule=pick(None, "convicted", "proven"),
        level=pick("block", "block", "warn"),
    )
    | st.builds(GateRule, metric=pick(P95, HALLUCINATION), max=pick(0.02, 900.0, 1500.0)),
    max_size=2,
    unique_by=lambda gate: gate.metric,
).map(tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one suite is drawn from."""

    cases: int
    rounds: int
    now: Agent
    was: Agent
    before: str  # which baseline there is
    seed: int
    early: bool
    cut: int | None  # trials that a budget allows
    down: bool
    gates: tuple[GateRule, ...]


plans = st.builds(
    Plan,
    cases=pick(1, 3, 6, 13, 30, 60),
    rounds=pick(1, 1, 2, 3),
    now=agents,
    was=agents,
    before=pick("none", "same", "same", "drawn", "drawn", "drawn", "others", "poorer"),
    seed=st.integers(0, 10**6),
    early=st.booleans(),
    cut=pick(*(None,) * 8, 2, 7),
    down=pick(*(False,) * 20, True),
    gates=gates,
)


def drawn(name: str, plan: Plan) -> Drawn:
    cases = ids(plan.cases)
    there = ids(plan.cases, "other")[:2] + cases[2:] if plan.before == "others" else cases
    poorer = replace(plan.now, has=plan.now.has[:1])
    known = {"none": None, "same": plan.now, "poorer": poorer}.get(plan.before, plan.was)
    planned = plan.cases * plan.rounds
    early = plan.early and known is not None and planned >= 10 and not plan.down
    trials = answers(cases, plan.rounds * (1 + early), plan.now, seed=plan.seed, suite=name)
    measured: dict[str, Any] = {}
    if plan.down:
        trials, measured = [], {"unreachable": "nobody answers; start it", "not_run": planned}
    elif plan.cut is not None and plan.cut < len(trials) and not early:
        trials = trials[: plan.cut]
        measured = {"not_run": planned - plan.cut}
    return Drawn(
        name=name,
        now=trials,
        was=known and answers(there, plan.rounds, known, seed=plan.seed + 7, suite=name),
        rounds=plan.rounds,
        info=BaselineInfo(source="repo", commit="a" * 40, rounds=plan.rounds, runs=1, age_days=1.2),
        runs=_past_runs(plan) if known else (),
        looks=equal_looks(2 * planned) if early else None,
        gates=plan.gates,
        has=plan.now.has,
        had=known.has if known else None,
        meta={"cases": plan.cases},
        measured=measured,
    )


def _past_runs(plan: Plan) -> tuple[BaselineRun, ...]:
    """As many as a baseline may have, of means that are drawn."""
    values = Random(plan.seed)
    return tuple(
        BaselineRun(
            session_id=f"2026010{n}-040000-0b1c2d3e",
            commit=f"{n:040x}",
            created_at=f"2026-01-{n + 1:02}T04:00:00Z",
            rounds=plan.rounds,
            cases=plan.cases,
            means={SUCCESS: round(values.random(), 3)},
        )
        for n in range(plan.seed % 11)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a whole run is drawn from."""

    suites: tuple[Plan, ...]
    alpha: float
    compared: tuple[str, ...]  # metrics that block beside the success rate
    missing: str

    def told(self) -> Told:
        rules = RegressionRules(
            alpha=self.alpha, metrics={name: MetricRule(metric=name) for name in self.compared}
        )
        config = replace(QUIET, regression=rules, policy=Policy(missing_metric=self.missing))
        names = ("analytics", "dialogue", "tool")
        pairs = zip(names, self.suites, strict=False)
        return concluded([drawn(name, plan) for name, plan in pairs], config)


runs = st.builds(
    Run,
    suites=pick(1, 1, 1, 2, 3).flatmap(lambda n: st.tuples(*(plans,) * n)),
    alpha=pick(0.01, 0.05),
    compared=pick((), (RECALL, FACTS), (FAITHFUL, COST)),
    missing=pick("fail", "warn"),
)
many = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],  # a smaller report would be looked for for minutes
)


# -------------------------------------------------------------------------------- what is read back


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """Every form of one report, as text, and the rows about metrics in them."""

    told: Told
    texts: dict[str, str]
    rows: tuple[Read, ...]
    junit: ElementTree.Element
    sarif: dict
    json: dict
    annotations: tuple[str, ...]
    check: str  # title of the check run


def read(told: Told) -> Forms:
    report = told.report
    comment = Comment().render(report, told.rows)
    whole = Markdown().render(report, told.rows)
    terminal = render_console(report, color=False, unicode=True, width=400)
    rows, page = in_page("report.html", Html().render(report, told.rows))
    ended = verdict(report, lambda limit: step_summary(report, told.rows, limit), str)
    only = next(iter(report.suites)) if len(report.suites) == 1 else ""
    found = [
        *in_markdown("comment.md", comment),
        *in_markdown("report.md", whole),
        *in_terminal("terminal", terminal.splitlines()),
        *rows,
    ]
    assert ended.summary == step_summary(report, told.rows)
    assert ended.summary in comment
    return Forms(
        told=told,
        texts={
            "comment.md": text_of(comment),
            "report.md": text_of(whole),
            "terminal": terminal,
            "report.html": page,
        },
        rows=tuple(replace(row, suite=row.suite or only) for row in found),
        junit=ElementTree.fromstring(JUnit().render(report, told.rows)),
        sarif=json.loads(Sarif().render(report, told.rows)),
        json=json.loads(summary(report)),
        annotations=render_annotations(report),
        check=ended.title,
    )


def test_each_form_tells_the_same() -> None:
    outcomes: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    lines: Counter[str] = Counter()

    @many
    @given(runs)
    def draw(run: Run) -> None:
        told = run.told()
        outcomes.update([told.report.outcome])
        statuses.update(row.status for row in told.report.comparisons)
        forms = read(told)
        for line in ("in the baseline's last", "cases asked", "| Newly failing | asked"):
            lines[line] += line in forms.texts["comment.md"]
        agree(forms)

    draw()
    assert len(+lines) >= 2, lines
    assert len(outcomes) >= 4, outcomes  # or it would be about fewer reports than it says
    assert len(statuses) >= 7, statuses


@pytest.mark.parametrize(
    ("outcome", "was", "now"),
    [
        ("pass", Agent(), Agent()),
        ("fail", Agent(), Agent(breaks=0.5)),
        ("inconclusive", Agent(flaky=0.0), Agent(flaky=0.0, breaks=0.2)),
        ("no_baseline", None, Agent()),
        ("error", Agent(), Agent(lost=0.5)),
    ],
)
def test_each_outcome_is_told_alike(outcome: str, was: Agent | None, now: Agent) -> None:
    cases = ids(24)
    before = None if was is None else answers(cases, 1, was, seed=1)
    told = concluded([Drawn(now=answers(cases, 1, now, seed=2), was=before, rounds=1)])
    assert told.report.outcome == outcome
    agree(read(told))


@pytest.mark.parametrize("suites", [1, 2])
def test_causes_are_told_alike(suites: int) -> None:
    well = Agent(fails=0.0, flaky=0.0)
    clumsy = replace(well, breaks=0.5, mode="wrong_tool", failure="missing_tool_call:run_sql")
    drawn_suites = [
        Drawn(
            name=name,
            now=answers(ids(60), 1, clumsy, seed=2, suite=name),
            was=answers(ids(60), 1, well, seed=1, suite=name),
            rounds=1,
        )
        for name in ("analytics", "dialogue")[:suites]
    ]
    told = concluded(drawn_suites)
    assert len(told.report.causes) == suites
    forms = read(told)
    assert f"Cause {suites}" in forms.texts["comment.md"]
    agree(forms)


def agree(forms: Forms) -> None:
    each_figure_is_one_text(forms)
    each_figure_is_its_number(forms)
    intervals_hold_their_values(forms)
    what_is_flagged_excludes_what_it_denies(forms)
    nothing_beyond_a_limit_is_well(forms)
    figures_in_sentences_are_those_of_the_tables(forms)
    counts_add_up(forms)
    newly_failing_cases_are_counted(forms)
    causes_are_of_the_cases_that_newly_fail(forms)
    the_last_runs_end_with_this_one(forms)
    what_was_asked_is_what_was_measured(forms)
    cases_of_a_fall_are_cases_that_were_asked(forms)
    trials_are_those_that_were_made(forms)
    the_outcome_is_the_same(forms)


def each_figure_is_one_text(forms: Forms) -> None:
    for key, found in texts(forms).items():
        assert len(set(found.values())) == 1, (key, found)


def texts(forms: Forms) -> dict[tuple[str, str, str], dict[str, str]]:
    """(suite, metric, quantity) -> where it is read -> its text."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for row, quantity, shown in quantities(forms):
        found.setdefault((row.suite, row.metric, quantity), {})[row.where] = shown
    return found


def quantities(forms: Forms) -> Iterator[tuple[Read, str, str]]:
    """The value that is compared is another quantity than that of all cases."""
    for row in forms.rows:
        compared = "rule" in row.cells
        for head, shown in row.cells.items():
            if head == "now":
                yield row, "compared" if compared else "now", shown
            elif head == "change" and compared:
                yield row, "change", shown
            elif head in ("baseline", "interval", "lowest case", "highest case", "rule", "trials"):
                yield row, head, shown


def comparisons(forms: Forms) -> dict[tuple[str, str], Comparison]:
    return {(row.suite, row.metric): row for row in forms.told.report.comparisons}


def limits(forms: Forms) -> dict[tuple[str, str], GateResult]:
    return {(row.suite, row.metric): row for row in forms.told.report.gates}


def each_figure_is_its_number(forms: Forms) -> None:
    """Within half of its last digit, of what summary.json has."""
    compared = {(c["suite"], c["metric"]): c for c in forms.json["comparisons"]}
    limited = {(g["suite"], g["metric"]): g for g in forms.json["gates"]}
    for (suite, metric, quantity), found in texts(forms).items():
        shown = next(iter(found.values()))
        row, gate = compared.get((suite, metric), {}), limited.get((suite, metric), {})
        estimate = forms.json["suites"][suite]["metrics"].get(metric, {})
        number = {
            "baseline": row.get("baseline"),
            "compared": row.get("current") if row.get("current") is not None else gate.get("value"),
            "now": estimate.get("value", row.get("current")),
            "change": row.get("delta"),
        }.get(quantity)
        if shown in ("", figures.ABSENT) or number is None:
            continue
        unit = row.get("unit") or gate.get("unit") or estimate.get("unit")
        said = numbers(shown)[0]
        if quantity == "change" and shown.split(" (")[0].endswith(" x"):
            number += 1.0
        elif quantity == "change" and (row["relative"] or unit == "share"):
            number *= 100
        told = (forms.texts.keys(), suite, metric, quantity, shown, number)
        assert abs(said - number) <= half_a_digit(shown) * 1.001 + 1e-9, told


def ends(shown: str) -> tuple[float, float] | None:
    """Of an interval as text; what is not told bounds nothing."""
    inner = shown.partition("(")[2].rstrip(")") if "(" in shown else shown
    if " … " not in inner:
        return None
    low, high = inner.split(" … ")
    return _end(low, -1), _end(high, 1)


def _end(shown: str, side: int) -> float:
    if shown in ("above 0", "below 0"):
        return 1e-9 if shown == "above 0" else -1e-9
    found = numbers(shown)
    if not found or "∞" in shown:
        return side * float("inf")
    return found[0] - 1.0 if shown.endswith(" x") else found[0] / (100 if " %" in shown else 1)


def _moved(shown: str) -> float:
    """The change in the same form as its interval."""
    return _end(shown.split(" (")[0].removeprefix("typical ").removesuffix(" pt"), 0)


def intervals_hold_their_values(forms: Forms) -> None:
    for row in forms.rows:
        shown = row.cells.get("interval", "")
        if found := ends(shown):
            value = numbers(row.cells["now"])[0]
            assert found[0] <= value <= found[1], (row.where, row.metric, value, shown)
        shown = row.cells.get("change", "")
        if (found := ends(shown)) and "rule" in row.cells:
            assert found[0] - 1e-9 <= _moved(shown) <= found[1] + 1e-9, (
                row.where,
                row.metric,
                shown,
            )


def what_is_flagged_excludes_what_it_denies(forms: Forms) -> None:
    """0 of a regression or an improvement, the margin of what is within the tolerance, the limit of
    what is proved to keep or to break it.
    """
    for row in forms.rows:
        found = comparisons(forms).get((row.suite, row.metric))
        bounds = ends(row.cells.get("change", ""))
        if found is None or bounds is None or "rule" not in row.cells:
            continue
        low, high = bounds if found.direction == "higher" else (-bounds[1], -bounds[0])
        told = (row.where, row.metric, found.status, row.cells["change"])
        if found.status == "regression":
            assert high < 0, told
        if found.status == "improvement":
            assert low > 0, told
        if found.status == "within_tolerance":
            scale = 100 if found.unit == "share" and not found.relative else 1
            assert -found.tolerance * scale < low <= high < 0, told


def nothing_beyond_a_limit_is_well(forms: Forms) -> None:
    for row in forms.rows:
        gate = limits(forms).get((row.suite, row.metric))
        if gate is None or gate.value is None or "rule" not in row.cells:
            continue
        beyond = (gate.min is not None and gate.value < gate.min - 1e-9) or (
            gate.max is not None and gate.value > gate.max + 1e-9
        )
        well = row.cells.get("sign") == "ok" or "✅" in "".join(row.cells.values())
        assert not (beyond and well), row
        shown = re.search(r"(?:all cases|as before): ([^)]*)", row.cells["rule"])
        value = numbers(shown[1] if shown else row.cells["now"])[0]
        if gate.min is not None:
            assert (value < gate.min) == (gate.value < gate.min - 1e-9), row
        if gate.max is not None:
            assert (value > gate.max) == (gate.value > gate.max + 1e-9), row


def figures_in_sentences_are_those_of_the_tables(forms: Forms) -> None:
    """`agent.success_rate 0.83`, `success_rate 0.83 (cases …)`, `success_rate is 0.83, below`."""
    known: dict[str, set[str]] = {}
    for (_, metric, quantity), found in texts(forms).items():
        if quantity in ("baseline", "now", "compared"):
            known.setdefault(metric, set()).update(found.values())
    for gate in forms.told.report.gates:
        if gate.as_before:  # and then it says so
            shown = figures.value(gate.value, gate.unit, limits=gate.limits)
            known.setdefault(gate.metric, set()).add(shown)
    for metric, shown in known.items():
        short = re.escape(metric.partition(".")[2])
        figure = re.compile(
            rf"(?<![\w.@^]){short} (?:is )?(\$?\d[\d,.]*\d(?: ms)?)(?! ?[\d.,]*[\d%x])"
        )
        for where, text in forms.texts.items():
            for said in figure.findall(text.replace(metric, metric.partition(".")[2])):
                assert said in shown, (where, metric, said, shown)


COUNTS = re.compile(
    r"(?:(\w+): )?([\d,]+) of ([\d,]+) cases? pass(?:es)?(?: every round)?"
    r"(?:, ([\d,]+) (?:is|are) flaky)?(?:, ([\d,]+) fails?(?: every round)?)?"
    r"(?:, ([\d,]+) without a verdict)?(?:, ([\d,]+) not asked)?"
)


def counts_add_up(forms: Forms) -> None:
    """What is said first is what the rows say."""
    report = forms.told.report
    for where, text in forms.texts.items():
        found = {said[0] or next(iter(report.suites)): said[1:] for said in COUNTS.findall(text)}
        for name, suite in report.suites.items():
            passing, flaky, failing, left = by_rounds(forms.told, name)
            if not passing + flaky + failing:
                assert name not in found, (where, found)
                continue
            said = [int(number.replace(",", "") or 0) for number in found[name]]
            asked = passing + flaky + failing + left
            unasked = suite.cases - asked
            wanted = [passing, passing + flaky + failing, flaky, failing, left, unasked]
            assert said == wanted, (where, name, said, wanted)
    for one in forms.junit:
        passing, flaky, failing, left = by_rounds(forms.told, one.get("name", ""))
        told = {kind: int(one.get(kind, "")) for kind in ("failures", "errors", "skipped")}
        unwell = flaky + failing + left
        # A case that passes but for a round that nobody answered may be an error, or skipped.
        lost = {
            row["case_id"]
            for row in forms.told.kept
            if row["suite"] == one.get("name", "") and row["status"] == "infra_error"
        }
        assert unwell <= sum(told.values()) <= unwell + len(lost)
        assert told["failures"] <= flaky + failing
        if (suite := report.suites.get(one.get("name", ""))) and suite.outcome == "pass":
            assert told["failures"] == 0, "a gate that passes is green"
        assert int(one.get("tests", "")) == passing + flaky + failing + left


def by_rounds(told: Told, suite: str) -> tuple[int, int, int, int]:
    """Cases that pass every round, some, none, and that nobody judged."""
    rounds: dict[str, list[bool]] = {}
    for row in told.kept:
        if row["suite"] == suite:
            judged = rounds.setdefault(row["case_id"], [])
            judged += [row["passed"]] if row["passed"] is not None else []
    kinds = Counter(
        "left"
        if not judged
        else "passing"
        if all(judged)
        else "flaky"
        if any(judged)
        else "failing"
        for judged in rounds.values()
    )
    return kinds["passing"], kinds["flaky"], kinds["failing"], kinds["left"]


def newly_failing_cases_are_counted(forms: Forms) -> None:
    listed = forms.json["cases"]["newly_failing"]
    for where, text in forms.texts.items():
        if where == "report.html":
            continue
        said = [
            int(n) for n in re.findall(r"(\d+) (?:of [\d,]+ )?(?:\w+ )?cases? newly fails?", text)
        ]
        named = [int(n) for n in re.findall(r"(\d+) of [\d,]+ cases of .* newly fails?", text)]
        of_suites = Counter(one["suite"] for one in listed)
        known = {len(listed), *of_suites.values()}
        assert set(said) | set(named) <= known, (where, said, named)
        assert bool(said or named) == bool(listed), where
    warnings = [line for line in forms.annotations if line.startswith("::warning")]
    told, most = sum("newly fails" in line for line in warnings), len(warnings)
    assert told == len(listed) or most == 10, forms.annotations
    results = forms.sarif["runs"][0]["results"]
    assert sum("newly-failing" in one["ruleId"] for one in results) == len(listed)
    assert {(c["suite"], c["case_id"]) for c in listed} <= {
        (row["suite"], row["case_id"]) for row in forms.told.kept if row["passed"] is False
    }


def causes_are_of_the_cases_that_newly_fail(forms: Forms) -> None:
    """`Cause 1 (23 of 32 cases)`, and as many rows with its number in the table of the comment."""
    report, several = forms.told.report, len(forms.told.report.suites) > 1
    newly = Counter(change.suite for change in report.cases.newly_failing)
    for where, text in forms.texts.items():
        told = re.findall(
            r"Cause (\d)(?: of (\w+))? \((?:(\d+) of |(all) )?(\d+) (?:cases?|them)", text
        )
        for number, suite, part, whole, all_of_them in told:
            cause = report.causes[int(number) - 1]
            assert (suite == cause.suite) if several else not suite
            size = int(part or all_of_them)
            assert size == len(cause.cases), (where, told)
            assert int(all_of_them) in (newly[cause.suite], size)
            assert not whole or size == newly[cause.suite]
    table = forms.texts["comment.md"].partition(" | cause |\n")[2].partition("\n\n")[0]
    numbers = [line.split(" | ")[-1].strip(" |") for line in table.splitlines()[1:]]
    if report.causes and numbers:
        counted = Counter(int(n) for cell in numbers for n in re.findall(r"\d+", cell))
        wanted = {n: len(one.cases) for n, one in enumerate(report.causes, start=1)}
        assert counted == wanted, (counted, wanted)


TREND = re.compile(
    r"^(\S+)(?: of (\w+))? in the baseline's last (\d+) runs?(?:, [\d-]+(?: to [\d-]+)?)?: "
    r"(.*) → (\S+)(?: in (\d+) cases?)?$",
    re.MULTILINE,
)


def the_last_runs_end_with_this_one(forms: Forms) -> None:
    """The same value as in the table of all metrics, and in the chart of the page."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", forms.texts["comment.md"])
    found = TREND.search(text)
    report = forms.told.report
    assert bool(found) == any(
        SUCCESS in suite.history and suite.metrics[SUCCESS].value is not None
        for suite in report.suites.values()
    )
    if found is None:
        return
    metric, suite, runs, values, now, asked = found.groups()
    name = suite or next(iter(report.suites))
    history = report.suites[name].history[metric]
    shown = next(iter(texts(forms)[name, metric, "now"].values()))
    assert now == shown, (now, shown)
    assert len(values.split()) == int(runs) == min(8, len(history))
    for said, number in zip(values.split(), history[-8:], strict=True):
        assert abs(float(said) - number) <= half_a_digit(said) + 1e-9
    if asked:
        assert int(asked) == sum(by_rounds(forms.told, name))


def what_was_asked_is_what_was_measured(forms: Forms) -> None:
    """`120 of 200 cases asked` of the line about the baseline; `27 more below` beside five rows."""
    report = forms.told.report
    for where, text in forms.texts.items():
        for asked, whole in re.findall(r"([\d,]+) of ([\d,]+) cases? asked", text):
            sizes = {
                name: (sum(by_rounds(forms.told, name)), suite.cases)
                for name, suite in report.suites.items()
            }
            sums = {
                tuple(map(sum, zip(*some, strict=True)))
                for n in range(1, len(sizes) + 1)
                for some in combinations(sizes.values(), n)
            }
            assert (int(asked.replace(",", "")), int(whole.replace(",", ""))) in sums, (
                where,
                asked,
            )
    comment = forms.texts["comment.md"]
    rows = comment.partition("Newly failing | asked")[2].partition("\n\n")[0].splitlines()[2:]
    more = re.search(r"^([\d,]+) more (?:below|in)", comment, re.MULTILINE)
    if rows:
        left = int(more[1].replace(",", "")) if more else 0
        assert len(rows) + left == len(report.cases.newly_failing)


def cases_of_a_fall_are_cases_that_were_asked(forms: Forms) -> None:
    """`26 cases are beyond the limit` never stands beside counts of fewer cases."""
    for where, text in forms.texts.items():
        told = re.findall(r"(\d+) cases? (?:got worse in|(?:is|are) beyond the limit of)", text)
        falls = {str(fall.cases) for fall in forms.told.report.worse}
        assert set(told) <= falls, (where, told)
    for fall in forms.told.report.worse:
        assert fall.cases <= sum(by_rounds(forms.told, fall.suite)), fall
        asked = {row["case_id"] for row in forms.told.kept if row["suite"] == fall.suite}
        assert {case.case_id for case in fall.worst} <= asked


def trials_are_those_that_were_made(forms: Forms) -> None:
    """`55 cases x 3 rounds` only of a run that made all of them."""
    report = forms.told.report
    made = Counter(row["suite"] for row in forms.told.kept)
    assert {name: suite.trials for name, suite in report.suites.items()} == {
        name: made[name] for name in report.suites
    }
    for where, text in forms.texts.items():
        sizes = re.findall(r"([\d,]+) cases? x ([\d,]+) rounds?( planned)?", text)
        for cases, rounds, planned in sizes:
            known = [one for one in report.suites.values() if size_of(one) == (cases, rounds)]
            whole = [one for one in known if one.trials == int(cases) * int(rounds)]
            assert known if planned else whole, (where, sizes)
        for shown in re.findall(r"([\d,]+) calls?(?: made| ·)", text):
            assert int(shown.replace(",", "")) == report.calls.made, (where, shown)


def size_of(suite: SuiteReport) -> tuple[str, str]:
    return f"{suite.cases}", f"{suite.rounds}"


def the_outcome_is_the_same(forms: Forms) -> None:
    report = forms.told.report
    word, reason = WORDS[report.outcome], plain(report.reason)
    heads = {
        "comment.md": next(
            line for line in forms.texts["comment.md"].splitlines() if "## " in line
        ),
        "report.md": forms.texts["report.md"].splitlines()[0],
        "report.html": forms.texts["report.html"].strip().splitlines()[0],
    }
    for where, head in heads.items():
        assert f"{word}: " in head, (where, head)
        assert reason[1:] in plain(forms.texts[where]), (where, reason)
    first, *_, last = forms.texts["terminal"].splitlines()
    assert first.startswith(f"{word.upper()}  ")
    assert last.startswith(f"{word.upper()}: ")
    assert forms.check.startswith(f"{report.outcome}: ")
    assert forms.json["outcome"] == report.outcome
    by_name = {one.get("name"): one for one in forms.junit}
    for name, suite in report.suites.items():
        kept = {one.get("name"): one.get("value") for one in by_name[name].iter("property")}
        assert kept["outcome"] == suite.outcome
        assert kept["reason"][:250] == " ".join(suite.reason.replace("`", "").split())[:250]
    worst = ("fail", "error", "not_comparable", "no_baseline", "inconclusive", "pass")
    found = min((suite.outcome for suite in report.suites.values()), key=worst.index)
    assert report.outcome == found
    assert (report.outcome == "pass") <= report.passed


def plain(text: str) -> str:
    """A stored sentence has minus signs and arrows of its own."""
    return re.sub(r"\s+", " ", text.replace("`", "").replace("->", "→").replace("−", "-"))
