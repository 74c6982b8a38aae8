"""Ten cases on a change, a hundred a week, all at a release: the same ones, and of every kind."""

import random
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from gate.commands import templates
from gate.suites.cases.sampling import choose
from gate.suites.config.load import load

SIZES = {"a": 300, "b": 120, "c": 80, "d": 50, "e": 30, "f": 15, "g": 5}
CASES = {f"{kind}{n}": kind for kind, size in SIZES.items() for n in range(size)}
TIERS = (10, 100, len(CASES))


def unlike(chosen: frozenset[str]) -> float:
    """Chi-squared of the categories that were chosen against their shares among all cases."""
    got = Counter(CASES[case] for case in chosen)
    expected = {kind: size * len(chosen) / len(CASES) for kind, size in SIZES.items()}
    return sum((got[kind] - share) ** 2 / share for kind, share in expected.items())


def test_each_tier_is_within_the_next() -> None:
    ten, hundred, whole = (choose(CASES, "support", n) for n in TIERS)
    assert (len(ten), len(hundred), len(whole)) == TIERS
    assert ten < hundred < whole


def test_a_tier_is_the_same_on_every_run_whatever_the_order_of_the_file() -> None:
    shuffled = list(CASES.items())
    for seed in range(5):
        random.Random(seed).shuffle(shuffled)
        assert choose(dict(shuffled), "support", 10) == choose(CASES, "support", 10)
    assert choose(CASES, "other", 10) != choose(CASES, "support", 10)


def test_a_new_case_moves_at_most_itself_into_the_ten() -> None:
    before = choose(CASES, "support", 10)
    after = choose({**CASES, "a-new": "a"}, "support", 10)
    assert len(before - after) <= 1


@pytest.mark.parametrize(("tier", "limit"), [(10, 2.0), (100, 0.5)])
def test_a_tier_is_far_more_like_the_whole_than_a_draw_by_lot(tier: int, limit: float) -> None:
    lots, ids = random.Random(1), sorted(CASES)
    drawn = [unlike(frozenset(lots.sample(ids, tier))) for _ in range(300)]
    seen = [unlike(choose(CASES, f"suite {n}", tier)) for n in range(50)]
    assert max(seen) < limit < sum(drawn) / len(drawn)


def test_the_example_of_the_template_is_one_that_can_be_switched_on() -> None:
    text = (Path(templates.__file__).parent / "gate.yml").read_text("utf-8")
    line = "# sample: {pull_request: 10, schedule: 100, release: all}"
    assert line in text
    switched = text.replace(line, line.removeprefix("# ")).encode()
    dataset = (Path(templates.__file__).parent / "first.jsonl").read_bytes()
    files = {"gate.yml": switched, "datasets/first.jsonl": dataset}
    config = load(files.get, "gate.yml", env={}, root=Path(), today=date.min)
    assert config.suites[0].sample == {"pull_request": 10, "schedule": 100, "release": "all"}
