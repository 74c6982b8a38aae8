"""How often an unchanged agent is blocked if the baseline is one of the luckiest.

    PYTHONPATH=. python benchmarks/lucky_baseline.py [--seed 5] [--cases 300]

Means of runs are drawn as normal variables: the noise of cases x 3 calls (variance 0.085 a call
around each case's own chance, as in benchmarks/session_effect.py) and a session effect of standard
deviation tau. Lucky: the mean of the baseline's runs is one of the 5 % highest. Blocked: one-sided
p <= 1 % and a drop of 2 points. The session effect is estimated from five runs on.
"""

from __future__ import annotations

import argparse

import numpy as np

from gate.stats.session_effect import FEWEST_RUNS, Era, estimate_session_effect

RUNS, TAUS = (1, 2, 3, 4, 5, 8, 10), (0.0, 1.0, 2.0)
DRAWN, DRAWN_WITH_EFFECT = 20_000, 6_000  # baselines; an estimate takes time
LEVEL, Z, TOLERANCE, LUCKY = 80.0, 2.3263, 2.0, 0.95  # points


def simulate(runs: int, tau: float, noise: float, rng: np.random.Generator) -> tuple[float, float]:
    """Shares that are blocked, of all baselines and of the lucky ones. `tau`: points; `noise`:
    variance of a run's mean by its calls, points^2.
    """
    drawn = DRAWN if runs < FEWEST_RUNS else DRAWN_WITH_EFFECT
    sd = np.sqrt(noise + tau**2)
    past, now = rng.normal(LEVEL, sd, (drawn, runs)), rng.normal(LEVEL, sd, drawn)
    eras = (Era(means=means, noise=np.full(runs, noise)) for means in past)
    effects = [estimate_session_effect([era]) for era in eras]
    drift = np.array([effect.drift(1.0 / runs) if effect else 0.0 for effect in effects])
    level = past.mean(axis=1)
    harm = level - now
    blocked = (harm >= TOLERANCE) & (harm >= Z * np.sqrt(noise * (1.0 + 1.0 / runs) + drift))
    return float(blocked.mean()), float(blocked[level >= np.quantile(level, LUCKY)].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--cases", type=int, default=300)
    options = parser.parse_args()
    noise = 0.085 / (3 * options.cases) * 100.0**2
    print("tau   runs  blocked %: all / after a lucky baseline")
    for tau in TAUS:
        for runs in RUNS:
            rng = np.random.default_rng([options.seed, runs, options.cases])
            every, lucky = simulate(runs, tau, noise, rng)
            print(f"{tau:3.0f} {runs:6d} {100 * every:10.1f} / {100 * lucky:.1f}", flush=True)


if __name__ == "__main__":
    main()
