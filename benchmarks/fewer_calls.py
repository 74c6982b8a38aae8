"""Three ideas to need fewer calls, each beside today's rule on the same draws, by simulation.

    PYTHONPATH=. python benchmarks/fewer_calls.py [--reps 4000] [--seed 1] [--main 12,48]
        [--only today,sure] [--certain 0.4] [--check 200]

100 cases x 3 planned rounds, at most 6; alpha 1 %, tolerance 2 points, power 80 %. Of a case, `c`
is its mean now, `b` its mean on main, `R` and `Rb` the rounds, `s2` the variance of all of them. A
rule says which calls are made, what stands for main (`before`), and how differences are weighted:

    U = sum a (c - before)    V = sum a^2 s2 f    z = U / sqrt V    estimate = U / sum a

Today before = b, f = 1/R + 1/Rb, a = 1/f, and every case is asked in turn. Boundaries, skewness and
the guard against cases that became flaky are the product's. `--check N` prints instead how often
today's rule and `gate run` itself end N runs of each kind differently.

- history: before = theta b + (1 - theta) m, f = 1/R + theta^2 / Rb; m is main's mean of all cases,
  theta fixed, or what empirical Bayes finds for the suite or for each case.
- sure: a case with one result in all rounds of main (at least 16) is asked once. a = 1/f as today,
  or equal: a = 1. `early`: powers of spending as today, though the last look sees less. `longer`:
  the others are asked up to 12 times, as far as the last look needs it to see as much as today's.
- seeds: round r has the seed of main's round r. Behind two answers to one seed are normal variables
  with the correlation `truth`; that of the answers, rho, is smaller. Ignored: rho is taken for 0.
  Known: it is known. Measured: it is what this run shows at each look, rounded down to tenths, at
  most 0.9. Then before = k (main's first R rounds) + (1 - k) (its others), with
  k = (R + rho (Rb - R)) / Rb, and f = (1 + k^2 - 2 k rho) / R + (1 - k)^2 / (Rb - R), which is the
  least variance. The plan ends where it sees as much as today's.

A weak null changes cases and not their mean: 30 % become coin flips (flaky), a fifth swap (swap).
`off` and `noise`: of the estimate at the last look, when nothing changed: its mean in points, and
its standard deviation to the one claimed. `--certain`: a share of the cases never errs by chance.
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.simulated_gate import (
    Array,
    Shape,
    chances,
    dropped,
    find_shift,
    judged,
    weakened,
)
from gate.records import RegressionRules, Tolerance, equal_looks
from gate.records.verdict import MOST_LOOKS
from gate.stats.boundaries import (
    SUSPICIOUS,
    Boundaries,
    boundaries,
    find_surplus,
    strong_suspicion,
)
from gate.stats.distributions import normal_quantile, upper_tail
from gate.stats.permutation_test import NOISE_SHARE

CASES, PLANNED, CAP, LONGER, MOST, BATCH = 100, 3, 6, 12, 48, 250
ALPHA, POWER, ALLOWED, CLOSE = 0.01, 0.8, 0.02, 1e-9
SURE_FROM = 16  # rounds of main
RULES = RegressionRules(alpha=ALPHA, tolerance=Tolerance(value=ALLOWED))
DROPS = (("", 0.0), ("spread", 0.05), ("break", 0.05), ("spread", 0.1), ("break", 0.1))
CELLS = (*DROPS, ("flaky", 0.0), ("swap", 0.0))
SUMS = ("was", "now", "first", "both")

Drawn = tuple[Array, Array, Array, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    name: str
    theta: float | str | None = None
    sure: bool = False
    equal: bool = False
    early: bool = False
    longer: bool = False
    truth: float = 0.0
    seeded: bool = False
    rho: float | None = None  # known; None: measured if `seeded`, else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Numbers of answers that passed, one row a run: all `rounds` of main (`was`), and those of the
    first 0 to 12 rounds, of the pull request, of main, and of both (pairs with one seed).
    """

    rounds: int
    was: Array
    now: Array
    first: Array
    both: Array

    def of(self, rows: Array) -> Runs:
        return replace(self, **{name: getattr(self, name)[rows] for name in SUMS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    delta: Array
    se: Array  # of delta, if nothing changed
    bound_se: Array
    worse: Array  # z that accuses
    doubt: Array  # z that acquits
    quantum: Array  # how far one call can move delta


def suites(rng: np.random.Generator, shape: int | tuple[int, ...], certain: float) -> Array:
    p = chances(rng, shape)
    return np.where(rng.random(shape) < certain, np.clip(p.round(), 1e-9, 1.0 - 1e-9), p)


@functools.cache
def shift(drop: float, certain: float) -> float:
    return find_shift(suites(np.random.default_rng(0), 100_000, certain), drop)


def draw(rng: np.random.Generator, kind: str, drop: float, certain: float) -> Drawn:
    """Chances before and now, and what is behind the answers of main and of the pull request."""
    p = suites(rng, (BATCH, CASES), certain)
    q = dropped(rng, p, drop, kind) if drop else p.copy()
    if certain and kind == "spread":
        q = weakened(p, shift(drop, certain))
    few = CASES // 5 if kind == "swap" else CASES * 3 // 10
    if kind == "swap":
        q[:, :few] = rng.permuted(p[:, :few], axis=1)
    if kind == "flaky":
        q[:, :few] = p[:, :few].mean(axis=1, keepdims=True)
    behind, own = (rng.standard_normal((BATCH, CASES, rounds)) for rounds in (MOST, LONGER))
    return p, q, behind, own


def answer(drawn: Drawn, truths: set[float]) -> tuple[Array, dict[float, Array]]:
    """What passed on main, and in the pull request, by the correlation of what is behind it."""
    p, q, behind, own = drawn
    now = {}
    for truth in truths:
        shared = truth * behind[..., :LONGER] + np.sqrt(1.0 - truth**2) * own
        now[truth] = upper_tail(shared) < q[..., None]
    return upper_tail(behind) < p[..., None], now


def count(was: Array, now: Array) -> Runs:
    first = was[..., :LONGER]
    growing = [
        np.pad(x.cumsum(axis=2, dtype=np.int8), [(0, 0), (0, 0), (1, 0)])
        for x in (now, first, first & now)
    ]
    sums = zip(SUMS, (was.sum(axis=2), *growing), strict=True)
    return Runs(rounds=was.shape[2], **dict(sums))


def at(sums: Array, asked: Array) -> Array:
    return np.take_along_axis(sums, asked[..., None], axis=2)[..., 0].astype(np.float64)


# ------------------------------------------------------------------------------- the test of a look


def evaluate(rule: Rule, runs: Runs, asked: Array, rho: Array) -> Evidence:
    """`asked`: rounds of each case so far. `rho`: of each run."""
    there, rb, r = asked > 0, float(runs.rounds), np.maximum(asked, 1.0)
    rounds, passes = r + rb, at(runs.now, asked) + runs.was
    b, c = runs.was / rb, at(runs.now, asked) / r
    s2 = there * passes * (rounds - passes) / rounds / (rounds - 1.0)
    s2b, s2c = runs.was * (1.0 - b) / (rb - 1.0), r * c * (1.0 - c) / np.maximum(r - 1.0, 1.0)
    rho = rho[:, None]
    s2 = s2 / (1.0 - 2.0 * r * rho / rounds / (rounds - 1.0))
    k = (r + rho * (rb - r)) / rb
    rest = (1.0 - k) / (rb - r)
    before = k * at(runs.first, asked) / r + rest * (runs.was - at(runs.first, asked))
    main = k**2 / r + rest**2 * (rb - r)
    a = there * (1.0 if rule.equal else 1.0 / unit(r, rb, rho))
    if rule.theta is not None:
        theta = find_theta(rule.theta, b, s2b / rb)
        before = theta * b + (1.0 - theta) * b.mean(1, keepdims=True)
        main = theta**2 / rb
    shared = 2.0 * k * rho / r
    u, v = (a * (c - before)).sum(1), (a**2 * s2 * (1.0 / r + main - shared)).sum(1)
    delta = u / a.sum(1)
    own = a**2 * (s2b * main + s2c / r - shared * np.sqrt(s2b * s2c))
    scatter = a**2 * (c - before - delta[:, None]) ** 2
    guard = guard_variance(there & (r == 1), own, scatter, a**2 * s2 * (1.0 / r + main - shared))
    third = (1.0 - k**3 - 3.0 * k * (1.0 - k) * rho) / r**2 - rest**3 * (rb - r)
    third = a**3 * s2 * (rounds - 2.0 * passes) / (rounds - 2.0) * third
    z = correct(standardise(u, v), third.sum(1) / np.maximum(v, CLOSE) ** 1.5)
    return Evidence(
        delta=delta,
        se=np.sqrt(v) / a.sum(1),
        bound_se=np.sqrt(np.maximum(v, guard)) / a.sum(1),
        worse=np.maximum(z, standardise(u, guard)),
        doubt=np.minimum(z, standardise(u, guard)),
        quantum=1.0 / (there if rule.equal else asked).sum(1),
    )


def unit(r: Array, rb: float, rho: Array | float) -> Array:
    """f, without theta."""
    k = (r + rho * (rb - r)) / rb
    return (1.0 + k**2 - 2.0 * k * rho) / r + (1.0 - k) ** 2 / (rb - r)


def find_rho(rule: Rule, runs: Runs, asked: Array) -> Array:
    """From the answers to one seed, less those to different seeds of the same case."""
    if not rule.seeded:
        return np.full(len(asked), rule.rho or 0.0)
    both, now, rounds = at(runs.both, asked), at(runs.now, asked), asked + runs.rounds
    passes = now + runs.was
    s2 = passes * (rounds - passes) / rounds / (rounds - 1.0)
    shared = both - (now * runs.was - both) / (runs.rounds - 1.0)
    found = shared.sum(1) / np.maximum((asked * s2).sum(1), CLOSE)
    return np.clip(np.floor(10.0 * found) / 10.0, 0.0, 0.9)


def find_theta(theta: float | str, b: Array, noise: Array) -> Array | float:
    """Fixed, or the share of the variance of the means that is not noise."""
    if not isinstance(theta, str):
        return theta
    mean = noise.mean(1, keepdims=True)
    between = np.maximum(b.var(1, ddof=1, keepdims=True) - mean, CLOSE)
    return between / (between + (mean if theta == "suite" else noise))


def guard_variance(single: Array, own: Array, scatter: Array, pooled: Array) -> Array:
    """As gate.stats.permutation_test: each side's own variance, else the scatter of the cases."""
    n, alone = single.sum(1), (single * pooled).sum(1)
    spread = (single * scatter).sum(1) * n / np.maximum(n - 1, 1)
    spread = np.where(spread > alone, alone + NOISE_SHARE * (spread - alone), spread)
    return (~single * own).sum(1) + np.where(n == 1, alone, spread)


def standardise(u: Array, v: Array) -> Array:
    return np.where(np.abs(u) < CLOSE, 0.0, u / np.sqrt(np.maximum(v, CLOSE**2)))


def correct(z: Array, skew: Array) -> Array:
    """gate.stats.distributions.skew_corrected, of arrays."""
    bend = np.sign(z) * np.minimum(np.abs(z), 1.0 / np.maximum(np.abs(skew), CLOSE))
    return bend - skew * (bend**2 - 1.0) / 6.0 + (z - bend) * (1.0 - np.abs(skew * bend) / 3.0)


# ------------------------------------------------------------------------------------ the whole run


@functools.cache
def variances(history: int) -> tuple[float, float]:
    """Of one answer: in cases that are sure after so many rounds of main, and in the others."""
    p = chances(np.random.default_rng(0), 100_000)
    sure = p**history + (1.0 - p) ** history
    return tuple(float(np.average(p * (1.0 - p), weights=w)) for w in (sure, 1.0 - sure))


@functools.cache
def plan(
    rule: Rule, history: int, unsure: int, rho: float = 0.0
) -> tuple[tuple[int, ...], Boundaries]:
    """The calls at each look, and its boundaries; `unsure`: cases that are asked again."""
    usual = history * CAP / (history + CAP)
    cap = CASES + (CAP - 1) * unsure
    while rule.longer and cap + 10 <= min(CASES * CAP, CASES + (LONGER - 1) * unsure):
        if see(rule, history, unsure, rho, cap)[1] >= usual:
            break
        cap += 10
    calls = equal_looks(cap).calls
    seen = [see(rule, history, unsure, rho, made) for made in calls]
    if rho:
        end = next(k for k, one in enumerate(seen) if calls[k] >= CASES and one[1] >= usual)
        calls, seen = calls[: end + 1], seen[: end + 1]
    surplus = find_surplus(usual if rule.early or rho else seen[-1][1], CAP, PLANNED)
    times = (*(round(time / seen[-1][0], 6) for time, _ in seen[:-1]), 1.0)
    return calls, boundaries(times, ALPHA, 1.0 - POWER, surplus)


def see(rule: Rule, history: int, unsure: int, rho: float, made: int) -> tuple[float, float]:
    """After so many calls: the variance of U (equal weights: the precision of the estimate), and
    the precision as if cases were alike, where it is R Rb / (R + Rb).
    """
    often = np.arange(CASES) < unsure
    v = np.where(often, *variances(history)[::-1]) if rule.sure else np.ones(CASES)
    again, part = divmod(max(0, made - CASES), max(1, unsure))
    f = unit(1.0 + often * (again + (np.arange(CASES) < part)), float(history), rho)
    a = np.ones(CASES) if rule.equal else 1.0 / f
    precision = float(a.sum() ** 2 / (a**2 * v * f).sum())
    share = min(1.0, made / CASES)
    return share * (precision if rule.equal else float((v / f).sum())), precision * v.mean() / CASES


def schedule(made: Array, sure: Array) -> Array:
    """Rounds of each case after `made` calls: all cases once, then the others again and again."""
    unsure = (~sure).sum(1)
    again, part = np.divmod(np.maximum(made - CASES, 0), np.maximum(unsure, 1))
    more = again[:, None] + (np.cumsum(~sure, axis=1) <= part[:, None])
    return (np.arange(CASES) < made[:, None]) + np.where(sure, 0, more)


def simulate(rule: Rule, runs: Runs) -> tuple[Array, Array, Evidence]:
    """Of each run: whether it is blocked, its calls, and what all its calls would have shown."""
    sure = (runs.was % runs.rounds == 0) & rule.sure
    unsure = (~sure).sum(1).tolist()
    longest = [plan(rule, runs.rounds, one)[0] for one in unsure]
    calls = np.array([one + one[-1:] * (MOST_LOOKS - len(one)) for one in longest])
    blocked, ended = np.zeros(len(sure), dtype=bool), np.zeros(len(sure), dtype=np.int64)
    for look in range(MOST_LOOKS):
        rows = np.flatnonzero(ended == 0)
        if not rows.size:
            break
        part, asked = runs.of(rows), schedule(calls[rows, look], sure[rows])
        rho = find_rho(rule, part, asked)
        e = evaluate(rule, part, asked, rho)
        plans = [plan(rule, runs.rounds, unsure[row], r) for row, r in zip(rows, rho, strict=True)]
        last = np.array([look >= len(one[0]) - 1 for one in plans])
        harm, futility, proof = (
            np.array([side[min(look, len(side) - 1)] for side in sides])
            for sides in zip(*((b.harm, b.futility, b.proof) for _, b in plans), strict=True)
        )
        fell = -e.delta >= ALLOWED + np.where(last, 0.0, e.se) - CLOSE
        worse = (e.worse <= -harm) & fell
        level = min(SUSPICIOUS, strong_suspicion(ALPHA))
        suspected = (e.worse <= normal_quantile(level)) & (-e.delta >= ALLOWED - CLOSE)
        proved = e.delta - proof * np.hypot(e.bound_se, proof * e.quantum) > CLOSE - ALLOWED
        over = worse | last | (((e.doubt >= -futility) | proved) & ~suspected)
        blocked[rows] = worse
        ended[rows[over]] = calls[rows, look][over]
    asked = schedule(calls[:, -1], sure)
    return blocked, ended, evaluate(rule, runs, asked, find_rho(rule, runs, asked))


def correlation(truth: float) -> float:
    """Of two answers with this correlation behind them, in a typical case."""
    rng = np.random.default_rng(0)
    p = chances(rng, 400_000)
    x, y = rng.standard_normal((2, len(p)))
    both = (upper_tail(x) < p) & (upper_tail(truth * x + np.sqrt(1.0 - truth**2) * y) < p)
    return float((both - p**2).mean() / (p * (1.0 - p)).mean())


def list_rules() -> list[Rule]:
    rules = [
        Rule(name="today"),
        Rule(name="history, theta 0.8", theta=0.8),
        Rule(name="history, theta of the suite", theta="suite"),
        Rule(name="history, theta of each case", theta="case"),
        Rule(name="sure, weights of today", sure=True),
        Rule(name="sure, equal weights", sure=True, equal=True),
        Rule(name="sure, equal weights, early", sure=True, equal=True, early=True),
        Rule(name="sure, equal weights, longer", sure=True, equal=True, longer=True),
        Rule(name="seeds, 0, measured", seeded=True),
    ]
    for truth in (0.3, 0.6, 0.9, 1.0):
        rho = round(correlation(truth), 2)
        said = f"seeds, {truth} (answers {rho})"
        rules.append(Rule(name=f"{said}, ignored", truth=truth))
        if rho < 1.0:
            rules.append(Rule(name=f"{said}, known", truth=truth, rho=rho))
        rules.append(Rule(name=f"{said}, measured", truth=truth, seeded=True))
    rules.append(Rule(name="seeds, 0, taken for 0.6", rho=round(correlation(0.6), 2)))
    return rules


def measure(
    rules: list[Rule], histories: list[int], *, certain: float, reps: int, seed: int
) -> None:
    results: dict[tuple[int, Rule], list[tuple[float, float]]] = {}
    ends: dict[tuple[int, Rule], list[Evidence]] = {}
    for cell, (kind, drop) in enumerate(CELLS):
        rng, parts = np.random.default_rng([seed, cell]), {}
        for _ in range(0, reps, BATCH):
            drawn = draw(rng, kind, drop, certain)
            was, now = answer(drawn, {rule.truth for rule in rules})
            for rule in rules:
                for history in histories:
                    if rule.sure and history < SURE_FROM:
                        continue
                    blocked, calls, end = simulate(rule, count(was[..., :history], now[rule.truth]))
                    parts.setdefault((history, rule), []).append((blocked.mean(), calls.mean()))
                    if not cell:
                        ends.setdefault((history, rule), []).append(end)
        for key, shares in parts.items():
            results.setdefault(key, []).append(tuple(np.mean(shares, axis=0)))
    print(
        "| main | rule | false alarms | 5 points: weakened, broken | 10 points | flaky, swap |"
        " calls: unchanged / 5 / 10 | off | noise |\n|--:|:--|--:|--:|--:|--:|--:|--:|--:|"
    )
    for (history, rule), found in sorted(results.items(), key=lambda item: item[0][0]):
        share, calls = np.array(found).T
        deltas, errors = (
            np.concatenate([getattr(end, name) for end in ends[history, rule]])
            for name in ("delta", "se")
        )
        noise = deltas.std() / max(CLOSE, np.sqrt((errors**2).mean()))
        s = [f"{100 * x:.1f}" for x in share]
        print(
            f"| {history} | {rule.name} | {s[0]} | {s[1]}, {s[2]} | {s[3]}, {s[4]} | {s[5]}, {s[6]}"
            f" | {calls[0]:.0f} / {calls[1:3].mean():.0f} / {calls[3:5].mean():.0f}"
            f" | {100 * deltas.mean():+.2f} | {noise:.2f} |"
        )


def check(histories: list[int], *, reps: int, seed: int) -> None:
    """Today's rule, run by run, beside what `gate run` calls."""
    print("| main | drop | runs | blocked: here, gate run, not alike | calls | not alike |")
    print("|--:|:--|--:|--:|--:|--:|")
    for cell, (kind, drop) in enumerate(DROPS):
        drawn = draw(np.random.default_rng([seed, cell]), kind, drop, 0.0)
        was, nows = answer(drawn, {0.0})
        now = nows[0.0]
        for history in histories:
            shape = Shape(cases=CASES, rounds=PLANNED, history=history, cap=CAP)
            blocked, calls, _ = simulate(Rule(name="today"), count(was[..., :history], now))
            both = was[..., :history].astype(np.float64), now[..., :CAP].astype(np.float64)
            gate = [judged(shape, both[0][i], both[1][i], RULES) for i in range(reps)]
            theirs = np.array([(one.row.status == "regression", one.calls) for one in gate])
            ours = np.stack([blocked, calls], axis=1)[:reps]
            mine, gates, unlike = ours.mean(0), theirs.mean(0), (ours != theirs).sum(0)
            print(
                f"| {history} | {kind} {drop} | {reps} | {100 * mine[0]:.1f}, {100 * gates[0]:.1f},"
                f" {unlike[0]} | {mine[1]:.0f}, {gates[1]:.0f} | {unlike[1]} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("--reps", 4000), ("--seed", 1), ("--check", 0)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--main", default="12,48", help="rounds of main")
    parser.add_argument("--only", default="", help="beginnings of names")
    parser.add_argument("--certain", type=float, default=0.0)
    asked = parser.parse_args()
    histories = [int(rounds) for rounds in asked.main.split(",")]
    if asked.check:
        check(histories, reps=min(BATCH, asked.check), seed=asked.seed)
        return
    rules = [rule for rule in list_rules() if rule.name.startswith(tuple(asked.only.split(",")))]
    measure(rules, histories, certain=asked.certain, reps=asked.reps, seed=asked.seed)


if __name__ == "__main__":
    main()
