"""The case-stratified shuffle test: each case's rounds are shuffled between baseline and current.

With w = R Rb / (R + Rb) for each case, U = sum w (mean_c - mean_b), and V is its variance over all
shuffles. For pass/fail this is the Mantel-Haenszel test stratified by case (one round: McNemar
mid-p).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gate.records import Blind
from gate.stats.distributions import normal_cdf, skew_corrected, t_cdf
from gate.stats.pairs import Array, Pairs

EXACT_BELOW = 4.0  # variance of the successes; from here on the normal curve is good enough
EXACT_SUPPORT = 8192  # rounds up to which the exact distribution is cheap
SIGNS_UP_TO = 14  # cases; of so many all 2^n signs are enumerated
MOST_ROUNDS = 100  # the most that is ever advised
# The scatter of single calls beyond the pooled variance has two parts: noise that grew,
# q(1-q) - p(1-p), and cases that really changed, (q-p)^2. For a sure case that became a coin flip
# half of it is noise.
NOISE_SHARE = 0.5
ROUNDING = 1e-12  # statistics this close are ties


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled:
    """The result of the test. `delta` = U / sum w, the mean difference. `p_down` and `p_up`: the
    chance of one at least this low, or high, if nothing changed.

    With unequal numbers of rounds, a run that only became flakier would look significant. So z and
    p are also computed with each side's own variance. `p_down` and `p_up` are the larger of the two
    p, for a regression; `doubt_down` and `doubt_up` the smaller, for ending a run without one.
    """

    delta: float
    z: float
    z_guard: float  # with each side's own variance; equals z if the rounds are equal
    p_down: float
    p_up: float
    doubt_down: float
    doubt_up: float
    se: float  # of delta, if nothing changed
    se_guard: float
    information: float  # sum w
    df: float  # degrees of freedom of z; infinite for pass/fail
    method: str


def shuffle_test(pairs: Pairs) -> Shuffled:
    """Tests the mean difference of `pairs`, which has at least one case."""
    weight = pairs.weight
    total = float(weight.sum())
    u = float(np.dot(weight, pairs.mean_c - pairs.mean_b))
    if abs(u) <= ROUNDING * float(np.dot(weight, np.abs(pairs.mean_c) + np.abs(pairs.mean_b))):
        u = 0.0  # equal scores, summed in another order
    v = float(np.dot(weight, pairs.variance))
    v_guard = _guard_variance(pairs, u / total) if pairs.is_unbalanced else v
    z, z_guard = _standardise(u, v), _standardise(u, v_guard)
    df = math.inf if pairs.binary else float((pairs.rounds - 1.0).sum())
    p_down, p_up, method = _binary_p(pairs, z, v) if pairs.binary else _score_p(pairs, z, df)
    guard_down, guard_up = p_down, p_up
    if pairs.is_unbalanced:
        guard_down, guard_up = t_cdf(z_guard, df), t_cdf(-z_guard, df)
    return Shuffled(
        delta=u / total,
        z=z,
        z_guard=z_guard,
        p_down=max(p_down, guard_down),
        p_up=max(p_up, guard_up),
        doubt_down=min(p_down, guard_down),
        doubt_up=min(p_up, guard_up),
        se=math.sqrt(v) / total,
        se_guard=math.sqrt(v_guard) / total,
        information=total,
        df=df,
        method=method,
    )


def case_p_values(pairs: Pairs) -> Array:
    """The two-sided hypergeometric mid-p of each case alone, for binary values."""
    numbers = [pairs.rounds, pairs.rounds_c, pairs.successes, pairs.mean_c * pairs.rounds_c]
    columns = [np.rint(column).astype(np.int64) for column in numbers]
    size = int(pairs.rounds.max(initial=0.0)) + 1
    keys = np.ravel_multi_index(columns, (size,) * 4)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    p = np.array([_two_sided(*(int(column[row]) for column in columns)) for row in first])
    return p[which] if p.size else np.ones(0)


def hypergeometric(rounds: int, drawn: int, successes: int) -> Array:
    """Chances of 0, 1, ..., `drawn` successes in a draw from `rounds` that have `successes`."""
    ways = [
        math.comb(successes, k) * math.comb(rounds - successes, drawn - k) for k in range(drawn + 1)
    ]
    total = math.comb(rounds, drawn)
    return np.array([way / total for way in ways])  # whole numbers do not overflow


def _two_sided(rounds: int, drawn: int, successes: int, seen: int) -> float:
    chances = hypergeometric(rounds, drawn, successes)
    below, at = float(chances[:seen].sum()), float(chances[seen])
    return min(1.0, 2.0 * min(below + at / 2.0, 1.0 - below - at / 2.0))


def _standardise(u: float, v: float) -> float:
    if u == 0.0 or v > 0.0:
        return u / math.sqrt(v) if u else 0.0
    return math.copysign(math.inf, u)


def _guard_variance(pairs: Pairs, delta: float) -> float:
    """The variance of U from each side's own rounds; for cases with a single round on a side, from
    the scatter of their differences.
    """
    squared = pairs.weight**2
    several = (pairs.rounds_b >= 2) & (pairs.rounds_c >= 2)
    variance = pairs.variance_b[several] / pairs.rounds_b[several]
    variance += pairs.variance_c[several] / pairs.rounds_c[several]
    total = float(np.dot(squared[several], variance))
    single = ~several
    n = int(single.sum())
    if not n:
        return total
    pooled = float(np.dot(pairs.weight[single], pairs.variance[single]))
    if n == 1:
        return total + pooled
    spread = (pairs.mean_c[single] - pairs.mean_b[single] - delta) ** 2
    scatter = float(np.dot(squared[single], spread)) * (n / (n - 1))
    if pairs.binary and scatter > pooled:
        scatter = pooled + NOISE_SHARE * (scatter - pooled)
    return total + scatter


# --------------------------------------------------------------------------------------- pass/fail


def _binary_p(pairs: Pairs, z: float, v: float) -> tuple[float, float, str]:
    """The mid-p values: exact for few informative rounds, else normal, corrected for skewness."""
    mixed = (pairs.successes > 0) & (pairs.successes < pairs.rounds)
    n, r, s = pairs.rounds[mixed], pairs.rounds_c[mixed], pairs.successes[mixed]
    if not n.size:
        return 0.5, 0.5, "exact shuffle test"
    skew = _skewness(n, r, s, v)
    support = int(np.minimum(r, s).sum())
    # Beyond |skew z| = 1 the correction is only a guess.
    if v < EXACT_BELOW or (abs(skew * z) > 1.0 and support <= EXACT_SUPPORT):
        seen = round(float((pairs.mean_c[mixed] * r).sum()))
        below, at = _exact_below_and_at(n, r, s, seen)
        return below + at / 2.0, 1.0 - below - at / 2.0, "exact shuffle test"
    corrected = skew_corrected(z, skew)
    return normal_cdf(corrected), normal_cdf(-corrected), "shuffle test"


def _skewness(n: Array, r: Array, s: Array, v: float) -> float:
    """The skewness of the successes in the current run (sum of hypergeometric third moments)."""
    variance = r * (n - r) * s * (n - s) / (n**2 * (n - 1.0))
    # A case of two rounds is symmetric.
    third = variance * (n - 2.0 * s) * (n - 2.0 * r) / (n * np.maximum(n - 2.0, 1.0))
    return float(third.sum()) / float(v**1.5)


def _exact_below_and_at(n: Array, r: Array, s: Array, seen: int) -> tuple[float, float]:
    """P(T < seen), P(T = seen) for the sum T of independent hypergeometric numbers.

    Equal cases share one characteristic function, raised to their count.
    """
    kinds, counts = np.unique(np.stack([n, r, s]), axis=1, return_counts=True)
    size = int(r.sum()) + 1
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    for (rounds, drawn, successes), count in zip(kinds.T.astype(int), counts, strict=True):
        chances = hypergeometric(int(rounds), int(drawn), int(successes))
        transform *= np.fft.rfft(chances, size) ** count
    total = np.clip(np.fft.irfft(transform, size), 0.0, 1.0)
    return min(1.0, float(total[:seen].sum())), float(total[seen])


# ------------------------------------------------------------------------------------------ scores


def _score_p(pairs: Pairs, z: float, df: float) -> tuple[float, float, str]:
    single = bool(np.all(pairs.rounds_b == 1) and np.all(pairs.rounds_c == 1))
    if single and pairs.cases <= SIGNS_UP_TO:
        return _signs_p(pairs.mean_c - pairs.mean_b)
    rarest = _rarest(pairs.rounds_b, pairs.rounds_c)
    return max(t_cdf(z, df), rarest), max(t_cdf(-z, df), rarest), "shuffle test"


def _rarest(rounds_b: Array, rounds_c: Array) -> float:
    """The chance of a single way to shuffle the rounds: no p-value is smaller, whatever the normal
    curve says about a few skewed scores. For many cases it is almost 0.
    """
    if len(rounds_b) > SIGNS_UP_TO:
        return 0.0
    dealt = zip(rounds_b, rounds_c, strict=True)
    return 1 / math.prod(math.comb(int(b + c), int(c)) for b, c in dealt)


def _signs_p(differences: Array) -> tuple[float, float, str]:
    """Exact p-values for one round on each side: a shuffle turns the sign of a difference."""
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    seen = float(differences.sum())
    slack = ROUNDING * max(1.0, float(np.abs(differences).sum()))
    p_down, p_up = np.mean(sums <= seen + slack), np.mean(sums >= seen - slack)
    return float(p_down), float(p_up), "exact shuffle test"


def smallest_p(pairs: Pairs) -> float:
    """The p-value of the worst possible result; above alpha, nothing can be significant."""
    return _least(pairs.rounds_b, pairs.rounds_c, binary=pairs.binary)


def blindness(pairs: Pairs, level: float) -> Blind | None:
    """How many cases or rounds are enough; None if the worst result is significant at `level`."""
    if smallest_p(pairs) <= level:
        return None

    def least(cases: int, more: int) -> float:
        """The smallest p-value with this many cases, and `more` rounds of each now."""
        rounds_b, rounds_c = np.resize(pairs.rounds_b, cases), np.resize(pairs.rounds_c, cases)
        return _least(rounds_b, rounds_c + more, binary=pairs.binary)

    return find_enough(least, level, cases=pairs.cases, rounds=int(pairs.rounds_c.max()))


def find_enough(
    least: Callable[[int, int], float], level: float, *, cases: int, rounds: int
) -> Blind | None:
    """How many cases or rounds would be enough to be significant at `level`; None if `cases` are.

    `least(cases, more)`: the smallest p-value with so many cases and `more` rounds of each.
    """
    if least(cases, 0) <= level:
        return None
    more = next((more for more in range(1, MOST_ROUNDS) if least(cases, more) <= level), None)
    wanted = next((n for n in range(cases + 1, SIGNS_UP_TO + 1) if least(n, 0) <= level), None)
    return Blind(
        cases=cases,
        rounds=rounds,
        enough_cases=wanted or max(cases, SIGNS_UP_TO) + 1,
        enough_rounds=None if more is None else rounds + more,
    )


def _least(rounds_b: Array, rounds_c: Array, *, binary: bool) -> float:
    rarest = _rarest(rounds_b, rounds_c)
    if binary:
        return rarest / 2.0
    if len(rounds_b) <= SIGNS_UP_TO and np.all((rounds_b == 1) & (rounds_c == 1)):
        return rarest
    # All scores of a side equal: no U is larger relative to its variance.
    df = float((rounds_b + rounds_c - 1.0).sum())
    return max(t_cdf(-math.sqrt(df), df), rarest)
