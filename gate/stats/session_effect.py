"""The session effect: how much runs of an unchanged agent differ beyond the noise of their calls.

All calls of one run share the provider and the load of the day. Runs are treated like the studies
of a meta-analysis, and tau^2 is the variance between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.stats.distributions import normal_quantile, t_cdf, t_quantile
from gate.stats.pairs import Array

FEWEST_RUNS = 5
FEWEST_STEPS = 3
SEEN = 0.10  # chance to speak of an effect in runs without one
# Both chosen by simulation (docs/statistics.md): at most 1.8 % false alarms with 5 to 20 runs.
JUMP = 0.01  # p-value below which a jump is a change of the agent, not of the day
LEVEL = 0.01  # level at which the allowance for few runs is exact
ROUNDING = 1e-9  # relative; smaller differences between means are rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """Runs in order of time, without a known change of the agent between them."""

    means: Array
    noise: Array  # variance of each mean from the noise of its calls

    @property
    def df(self) -> int:
        return len(self.means) - 1

    @property
    def squares(self) -> float:
        """The sum of squared deviations from the mean, without rounding errors."""
        deviations = self.means - self.means.mean()
        return float((deviations[abs(deviations) > ROUNDING * abs(self.means)] ** 2).sum())

    @property
    def half_squared_steps(self) -> float:
        """Half the sum of squared steps from run to run: `df` times von Neumann's variance."""
        steps = np.diff(self.means)
        return float((steps[abs(steps) > ROUNDING * abs(self.means[1:])] ** 2).sum()) / 2.0

    @property
    def expected_of_noise(self) -> float:
        """The expected value of `half_squared_steps` if there is only noise."""
        return float((self.noise[1:] + self.noise[:-1]).sum()) / 2.0

    def cut(self, at: int) -> tuple[Era, Era]:
        """The runs before number `at`, and those from it on."""
        return (
            Era(means=self.means[:at], noise=self.noise[:at]),
            Era(means=self.means[at:], noise=self.noise[at:]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEffect:
    """`variance`: tau^2 in squared units of the means. `seen`: whether a chi-squared test tells it
    from noise; a report is silent of one that is not seen, a comparison allows for it.

    `allowance`: tau from few runs is uncertain, so Student's quantile replaces the normal one; this
    is the square of their ratio.
    """

    variance: float
    runs: int
    allowance: float = 1.0
    seen: bool = False

    @property
    def sd(self) -> float:
        return math.sqrt(self.variance)

    def drift(self, concentration: float) -> float:
        """The variance of the difference between a run and a pool beyond the noise of calls.

        `concentration`: the sum of the squared shares of the pool's runs; 1 / K for K equal runs.
        """
        return self.variance * self.allowance * (1.0 + concentration)


def estimate_session_effect(eras: Sequence[Era]) -> SessionEffect | None:
    """tau^2 = half the mean squared step between successive runs - what noise adds (von Neumann
    and others, Annals of Mathematical Statistics 12, 1941); None if there are too few runs.

    A trend of s a run adds s^2 / 2 to it; the variance around the mean of n runs would add
    s^2 n (n + 1) / 12. A jump adds to one step; eras are cut at large ones first. Steps that share
    a run are correlated: those of n runs are worth 2 (n - 1)^2 / (3 n - 4) degrees of freedom.
    The median of what noise adds is subtracted and not its mean: few runs can seem equal by luck.
    """
    if sum(len(era.means) for era in eras if era.df > 0) < FEWEST_RUNS:
        return None
    parts = [era for era in _cut_at_jumps(eras) if era.df > 0]
    runs, steps = sum(len(era.means) for era in parts), sum(era.df for era in parts)
    if steps < FEWEST_STEPS:
        return None
    df = 2.0 * steps**2 / sum(3 * era.df - 1 for era in parts)
    squares = sum(era.half_squared_steps for era in parts)
    noise = sum(era.expected_of_noise for era in parts)
    few = t_quantile(1.0 - LEVEL, df) / normal_quantile(1.0 - LEVEL)
    return SessionEffect(
        variance=max(0.0, squares - noise * chi_squared_quantile(0.5, df) / df) / steps,
        runs=runs,
        allowance=few**2,
        seen=squares > noise * chi_squared_quantile(1.0 - SEEN, df) / df,
    )


def _cut_at_jumps(eras: Sequence[Era]) -> list[Era]:
    """The eras, cut at jumps that are too large for the other differences between runs: the largest
    F of all cuts, one by one, at Bonferroni's level (binary segmentation).
    """
    parts = list(eras)
    while (df := sum(era.df for era in parts) - 1) >= FEWEST_STEPS:
        gain, which, at = max(_gains(parts), default=(0.0, 0, 0))
        rest = max(0.0, sum(era.squares for era in parts) - gain)
        if gain <= 0.0:
            break
        t = math.sqrt(gain / rest * df) if rest else math.inf
        if 2.0 * t_cdf(-t, df) * (df + 1) > JUMP:
            break
        parts[which : which + 1] = parts[which].cut(at)
    return parts


def _gains(parts: Sequence[Era]) -> list[tuple[float, int, int]]:
    """How much each possible cut lowers the sum of squares: (gain, era, first run after it)."""
    return [
        (era.squares - sum(half.squares for half in era.cut(at)), which, at)
        for which, era in enumerate(parts)
        for at in range(1, len(era.means))
    ]


def chi_squared_quantile(p: float, df: float) -> float:
    """The `p`-quantile of the chi-squared distribution with `df` degrees of freedom (Wilson and
    Hilferty 1931); off by less than 1 % from 3 degrees of freedom on.
    """
    spread = 2.0 / (9.0 * df)
    return float(df * (1.0 - spread + normal_quantile(p) * math.sqrt(spread)) ** 3)
