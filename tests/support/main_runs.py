"""Runs of main as a baseline file keeps them: a table of values and a header a run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gate.analysis.table import Table
from gate.records import MetricSpec
from gate.records.baseline import BaselineRun
from tests.support.verdict_tables import SUCCESS

NAN = float("nan")


def past(
    *blocks: np.ndarray | Mapping[str, np.ndarray],
    specs: tuple[MetricSpec, ...] = (SUCCESS,),
    older: Sequence[BaselineRun] = (),
    fingerprints: Sequence[Mapping[str, str]] = (),
) -> tuple[Table, list[BaselineRun]]:
    """Each block is a run, oldest first: success, or columns by name, each of cases x rounds.

    `older`: runs before them that kept no values. Runs are called r00, r01, ... over all.
    """
    columns = [block if isinstance(block, Mapping) else {"success": block} for block in blocks]
    first = next(iter(columns[0].values()))
    ids = tuple(f"c{i:03d}" for i in range(len(first)))
    runs = list(older)
    for number, block in enumerate(columns):
        rounds = next(iter(block.values())).shape[1]
        made = fingerprints[number] if fingerprints else {}
        runs.append(header(len(runs), cases=len(ids), rounds=rounds, kept=rounds, fingerprint=made))
    table = Table(
        suite="s",
        cases=ids,
        digests=ids,
        rounds=sum(run.kept for run in runs),
        columns={name: np.hstack([block[name] for block in columns]) for name in columns[0]},
        specs={spec.name: spec for spec in specs},
        graders=dict.fromkeys(columns[0], "g"),
    )
    return table, runs


def header(number: int, **changes: object) -> BaselineRun:
    known = {
        "session_id": f"r{number:02d}",
        "commit": f"{number:02d}" * 20,
        "created_at": f"2026-11-{number + 1:02d}T08:00:00Z",
    }
    return BaselineRun(**{**known, **changes})


def passes(share: float, cases: int = 60, rounds: int = 3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng([seed, round(1000 * share)])
    return (rng.random((cases, rounds)) < share).astype(float)


STORED_SPEC = MetricSpec(name="agent.success_rate", column="success", unit="share")


def stored_table(values: dict[str, list[float]], *, digests: str = "d", **changes) -> Table:
    """`values`: case -> success by round; the column `half` is half of it."""
    cases = tuple(sorted(values))
    rounds = len(next(iter(values.values()))) if values else 0
    success = np.array([values[c] for c in cases], dtype=float).reshape(len(cases), rounds)
    whole = Table(
        suite="analytics",
        cases=cases,
        digests=tuple(f"{digests}-{c}" for c in cases),
        rounds=rounds,
        columns={"success": success, "half": success / 2},
        specs={STORED_SPEC.name: STORED_SPEC},
        graders={"success": "g1", "half": "g2"},
        categories=tuple("easy" for _ in cases),
    )
    return replace(whole, **changes)


def told_header(number: int, **changes) -> BaselineRun:
    values = {
        "session_id": f"s{number}",
        "commit": f"{number:040x}",
        "created_at": f"2026-11-{number:02}T00:00:00Z",
        "means": {"agent.success_rate": 0.5},
        "fingerprint": {"agent": "openai m"},
    }
    return BaselineRun(**{**values, **changes})
