"""What other tools do to decide whether an agent got worse, as plug-ins of a verdict simulator.

Its contract: `baseline` and `candidate` are arrays of cases x rounds x metrics, pass/fail as 1 and
0, every call made; the answer is a status a metric. None of the rules has a tolerance or stops
early. A raw threshold, the paired t test on case means and McNemar's mid-p test come with the
simulator.

    PYTHONPATH=. python "$GATE_TOOLS/verdict_sim.py" --method benchmarks.other_rules:unpaired_z \
        --alpha .05 --reps 1000 --seed 1

The rules of named tools stand below these. They decide with the tool's defaults, whatever alpha is;
benchmarks/peer_rules.py asks the tools' own packages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import t_cdf, t_quantile

Array = npt.NDArray[np.float64]
Decision = Callable[[Array, Array, float], bool]  # baseline, candidate, alpha -> is it worse?
Rule = Callable[..., list[str]]
RESAMPLES = 1000
NORMAL = NormalDist()
USUAL = 0.05  # the level of every named tool
MAX_DROP = 0.05  # `nel compare --max-drop`
SHUFFLES = 10_000  # of `nel compare`


def rule(worse: Decision) -> Rule:
    """The simulator's plug-in for a decision about one metric at one-sided level alpha."""

    @wraps(worse)
    def judge(baseline: Array, candidate: Array, *, alpha: float, **_: object) -> list[str]:
        return [
            "regression" if worse(baseline[:, :, j], candidate[:, :, j], alpha) else "inconclusive"
            for j in range(candidate.shape[2])
        ]

    return judge


@rule
def any_drop(was: Array, now: Array, _alpha: float) -> bool:
    """The mean is lower than the baseline's, by however little."""
    return bool(now.mean() < was.mean())


@rule
def unpaired_z(was: Array, now: Array, alpha: float) -> bool:
    """Two proportions: all calls in two pots, as if no case had been run on both sides."""
    pooled = (was.sum() + now.sum()) / (was.size + now.size)
    variance = pooled * (1.0 - pooled) * (1.0 / was.size + 1.0 / now.size)
    z = (now.mean() - was.mean()) / math.sqrt(variance) if variance > 0.0 else 0.0
    return bool(NORMAL.cdf(z) <= alpha)


@rule
def unpaired_fisher(was: Array, now: Array, alpha: float) -> bool:
    """Fisher's exact test on the same two pots."""
    calls, drawn = was.size + now.size, now.size
    passed, seen = round(was.sum() + now.sum()), round(now.sum())
    fewest = max(0, drawn - (calls - passed))
    logs = [
        _log_ways(passed, k) + _log_ways(calls - passed, drawn - k) - _log_ways(calls, drawn)
        for k in range(fewest, seen + 1)
    ]
    return sum(map(math.exp, logs)) <= alpha


@rule
def paired_bootstrap(was: Array, now: Array, alpha: float) -> bool:
    """Cases drawn with replacement; worse when the percentile bound of their mean difference is
    below zero.
    """
    resampled = _resampled_means(now.mean(axis=1) - was.mean(axis=1))
    return bool(np.quantile(resampled, 1.0 - alpha) < 0.0)


@rule
def paired_bootstrap_bca(was: Array, now: Array, alpha: float) -> bool:
    """The same with the bias-corrected and accelerated bound (Efron 1987)."""
    differences = now.mean(axis=1) - was.mean(axis=1)
    resampled, seen = _resampled_means(differences), float(differences.mean())
    below = float((resampled < seen).mean() + (resampled == seen).mean() / 2.0)
    if not 0.0 < below < 1.0:  # all cases changed alike
        return seen < 0.0
    centred = seen - differences  # the jackknife's deviations, up to a factor
    squares = float((centred**2).sum())
    acceleration = float((centred**3).sum()) / (6.0 * squares**1.5) if squares > 0.0 else 0.0
    bias = NORMAL.inv_cdf(below)
    moved = bias + NORMAL.inv_cdf(1.0 - alpha)
    level = NORMAL.cdf(bias + moved / (1.0 - acceleration * moved))
    return bool(np.quantile(resampled, level) < 0.0)


@rule
def hierarchical_bootstrap(was: Array, now: Array, alpha: float) -> bool:
    """Cases drawn with replacement, then each one's rounds too; the percentile bound as above."""
    rng = np.random.default_rng(0)
    cases = rng.integers(len(was), size=(RESAMPLES, len(was), 1))
    means = [
        arm[cases, rng.integers(arm.shape[1], size=(*cases.shape[:2], arm.shape[1]))].mean((1, 2))
        for arm in (was, now)
    ]
    return bool(np.quantile(means[1] - means[0], 1.0 - alpha) < 0.0)


@rule
def nel_compare(was: Array, now: Array, _alpha: float) -> bool:
    """NeMo Evaluator 0.3.0 (package), `nel compare`: the verdict BLOCK, exit code 1."""
    return _nel_verdict(was, now) == "BLOCK"


@rule
def nel_compare_strict(was: Array, now: Array, _alpha: float) -> bool:
    """The same, any exit code but 0: by default (`--strict`) WARN and INCONCLUSIVE are 2."""
    return _nel_verdict(was, now) != "PASS"


@rule
def gym_eval_compare(was: Array, now: Array, _alpha: float) -> bool:
    """NeMo Gym (documentation, source at 15cecbc), `gym eval compare`: a report without a verdict.
    Counted: its 95 % Welch interval, of which each value is the mean of one round, lies below zero.
    One round has no interval.
    """
    before, after = was.mean(axis=0), now.mean(axis=0)
    if min(before.size, after.size) < 2:
        return False
    variances = [arm.var(ddof=1) / arm.size for arm in (before, after)]
    variance, change = sum(variances), float(after.mean() - before.mean())
    if variance == 0.0:
        return change < 0.0
    parts = [v**2 / (arm.size - 1) for v, arm in zip(variances, (before, after), strict=True)]
    reach = t_quantile(1.0 - USUAL / 2.0, float(variance**2 / sum(parts))) * math.sqrt(variance)
    return bool(change + reach < 0.0)


@rule
def agent_regress(was: Array, now: Array, _alpha: float) -> bool:
    """agent-regress-cli 0.1.9 (package): two-sided Mann-Whitney of all calls in two pots, and
    Cohen's d of -0.2 or worse; at least ten calls a pot.
    """
    before, after = was.size, now.size
    calls, passed = before + after, float(was.sum() + now.sum())
    change = float(now.mean() - was.mean())
    squares = float(((was - was.mean()) ** 2).sum() + ((now - now.mean()) ** 2).sum())
    spread = math.sqrt(squares / (calls - 2))
    if min(before, after) < 10 or change > -0.2 * spread or change == 0.0:
        return False
    ties = sum(tied**3 - tied for tied in (passed, calls - passed))
    variance = before * after / 12.0 * (calls + 1.0 - ties / (calls * (calls - 1.0)))
    z = (before * after * abs(change) / 2.0 - 0.5) / math.sqrt(variance)
    return bool(2.0 * NORMAL.cdf(-z) < USUAL)


@rule
def llm_eval_action(was: Array, now: Array, _alpha: float) -> bool:
    """llm-eval-action 0.1.0 (release notes), mode `significance`: McNemar's exact test of single
    answers, the paired t test of several. Assumed: two-sided, 5 %, no drop allowed.
    """
    changes = now.mean(axis=1) - was.mean(axis=1)
    if was.shape[1] == now.shape[1] == 1:
        lost, gained = int((changes < 0.0).sum()), int((changes > 0.0).sum())
        return lost > gained and 2.0 * _at_least(lost, lost + gained) < USUAL
    error = float(changes.std(ddof=1)) / math.sqrt(changes.size)
    if error == 0.0:
        return bool(changes[0] < 0.0)
    return 2.0 * t_cdf(float(changes.mean()) / error, changes.size - 1) < USUAL


def multivon_compare(baseline: Array, candidate: Array, **_: object) -> list[str]:
    """multivon-eval 0.17.0 (package), `compare --fail-on-regression`: one decision for all metrics.
    Some case passed all metrics in all its rounds, and does not any more.
    """
    lost, _gained = _multivon_flips(baseline, candidate)
    return ["regression" if lost else "inconclusive"] * candidate.shape[2]


def multivon_mcnemar(baseline: Array, candidate: Array, **_: object) -> list[str]:
    """The same tool's "significant at p<0.05", which no exit code follows: McNemar's test of those
    cases, two-sided, with Edwards' correction.
    """
    lost, gained = _multivon_flips(baseline, candidate)
    statistic = (lost - gained - 1.0) / math.sqrt(lost + gained) if lost > gained else 0.0
    worse = 2.0 * NORMAL.cdf(-statistic) < USUAL
    return ["regression" if worse else "inconclusive"] * candidate.shape[2]


def _multivon_flips(baseline: Array, candidate: Array) -> tuple[int, int]:
    was, now = (arm.all(axis=(1, 2)) for arm in (baseline, candidate))
    return int((was & ~now).sum()), int((now & ~was).sum())


def _nel_verdict(was: Array, now: Array) -> str:
    """Lost and gained are cases that no round or some round passes. Case means of 0 and 1 alone are
    tested by McNemar's exact test and their effect is a share of cases; others are shuffled, and
    their effect is Cohen's d.
    """
    before, after = was.mean(axis=1), now.mean(axis=1)
    lost = int(((before > 0.0) & (after == 0.0)).sum())
    gained = int(((before == 0.0) & (after > 0.0)).sum())
    if lost + gained == 0:
        return "PASS"
    falls = before - after
    if np.isin([before, after], (0.0, 1.0)).all():
        significant = _at_least(lost, lost + gained) < USUAL
        effect = (lost - gained) / len(falls)
    else:
        reached = (_signs(len(falls)) * falls).mean(axis=1) >= falls.mean()
        significant = bool((reached.sum() + 1) / (SHUFFLES + 1) < USUAL)
        spread = float(falls.std(ddof=1))
        effect = float(falls.mean()) / spread if spread > 0.0 else 0.0
    if significant:
        return "BLOCK" if abs(effect) > MAX_DROP and lost > gained else "WARN"
    detectable = 2.8 / math.sqrt(lost + gained)  # what it says 80 % of such runs would show
    return "INCONCLUSIVE" if detectable > 2.0 * MAX_DROP else "PASS"


@cache
def _signs(cases: int) -> Array:
    drawn = np.random.default_rng(42).integers(2, size=(SHUFFLES, cases))
    return (2 * drawn - 1).astype(np.float64)


def _at_least(number: int, tosses: int) -> float:
    """The chance of so many heads or more of a fair coin."""
    return sum(math.comb(tosses, k) for k in range(number, tosses + 1)) / 2**tosses


def _log_ways(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _resampled_means(values: Array) -> Array:
    return _draws(len(values)) @ values / len(values)


@cache
def _draws(cases: int) -> Array:
    """How often each case is drawn, for every resample; the same for all runs of the simulator."""
    rng = np.random.default_rng(0)
    return rng.multinomial(cases, np.full(cases, 1.0 / cases), size=RESAMPLES).astype(np.float64)
