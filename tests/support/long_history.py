"""A history of some months whose level fell and rose again; its texts may be hostile."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gate.records import Estimate, MetricSpec, Provenance
from gate.records.history import History
from gate.store.baseline.schema import AcceptanceNote
from gate.store.history import ALPHA, Chain, RunDetail, history_of
from tests.support.main_runs import header

LATENCY = MetricSpec(
    name="operational.p95_latency_ms", column="latency_ms", unit="ms", direction="lower", high=None
)


def long_history(runs: int = 24, *, cases: int = 120, hostile: str = "") -> History:
    """Of one suite. A third of the cases fails while the level is low."""
    fell, rose = runs // 3, 2 * runs // 3
    made, details = [], {}
    for number in range(runs):
        low = fell <= number < rose
        rate = (0.74 if low else 0.93) + 0.004 * (number % 5)
        means = {
            "agent.success_rate": rate,
            "agent.avg_steps": 6.2 if low else 4.1,
            "agent.cost_per_task": 0.0079 + 0.0001 * (number % 3),
            LATENCY.name: 2300.0 + 100 * (number % 7),
            f"retrieval.ndcg@5{hostile}": None if number % 7 == 3 else 0.8,
        }
        day = f"2026-{8 + number // 28:02}-{number % 28 + 1:02}T03:17:00Z"
        run = header(0, session_id=f"s{number:03}", created_at=day, commit=f"{number:040x}")
        made.append(replace(run, cases=cases, rounds=3, trials=3 * cases, means=means, modes={}))
        counted = {
            f"case-{case:03}{hostile if case == 1 else ''}": (
                0 if case == 0 or (low and case % 4 == 1) else 3,
                3,
            )
            for case in range(cases)
        }
        details[run.session_id] = RunDetail(
            provenance=Provenance(
                run_url=f"https://github.com/o/r/actions/runs/{number}", run_id=str(number)
            ),
            estimates={
                "agent.success_rate": Estimate(
                    metric="agent.success_rate", value=rate, ci_low=rate - 0.04, ci_high=rate + 0.03
                )
            },
            read_cases=partial(dict, counted),
        )
    when = made[fell].created_at.replace("03:17", "01:00")
    note = AcceptanceNote(who=f"ana{hostile}", when=when, why=f"meant{hostile}", old_digest="x")
    chain = Chain(
        suite=f"support{hostile}",
        source=f"x{hostile}",
        runs=tuple(made),
        accepted=(note,),
        notes=(hostile,) if hostile else (),
        specs={LATENCY.name: LATENCY},
        details=details,
    )
    return History(suites=(history_of(chain, last=None, since=None, cases=True),), alpha=ALPHA)
