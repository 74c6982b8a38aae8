"""Contexts of 20 numbers, questions on them, right calculations and wrong numbers; from a seed."""

import random
from dataclasses import dataclass

REGIONS = ["North", "South", "East", "West", "Harbour", "Valley", "Lakeside", "Highland"]
MEASURES = ["revenue", "costs", "marketing budget", "refunds", "payroll"]
COUNTS = ["stores", "warehouses", "vans", "contracts", "employees"]
RATES = ["gross margin", "churn", "return rate", "on-time share"]


@dataclass(frozen=True)
class Figure:
    label: str  # "North revenue in 2024"
    region: str
    about: str
    year: int
    value: float
    kind: str  # amount, percent, count

    @property
    def text(self):
        if self.kind == "amount":
            return f"${self.value:,.0f}"
        return f"{self.value:.1f} %" if self.kind == "percent" else f"{self.value:.0f}"


def world(dice):
    """20 figures: 12 amounts, 4 percentages, 4 small whole numbers, of four regions."""
    regions = dice.sample(REGIONS, 4)
    measure, other = dice.sample(MEASURES, 2)
    count, rate = dice.choice(COUNTS), dice.choice(RATES)
    figures = []
    for region in regions:
        for year in (2023, 2024):
            value = dice.randrange(90_000, 4_000_000)
            figures.append(figure(region, measure, year, value, "amount"))
        value = dice.randrange(20_000, 900_000)
        figures.append(figure(region, other, 2024, value, "amount"))
        figures.append(figure(region, rate, 2024, dice.randrange(20, 600) / 10, "percent"))
        figures.append(figure(region, count, 2024, dice.randrange(3, 99), "count"))
    return figures


def figure(region, about, year, value, kind):
    return Figure(f"{region} {about} in {year}", region, about, year, float(value), kind)


def context(figures, dice):
    """As prose, as a list, as a table or as a query's result."""
    shown = list(figures)
    dice.shuffle(shown)
    form = dice.randrange(4)
    if form == 0:
        return " ".join(f"In {f.year} the {f.about} of {f.region} came to {f.text}." for f in shown)
    if form == 1:
        return "\n".join(f"- {f.label}: {f.text}" for f in shown)
    if form == 2:
        rows = (f"| {f.region} | {f.about} | {f.year} | {f.text} |" for f in shown)
        return "\n".join(["| region | item | year | figure |", "|---|---|---|---|", *rows])
    return "\n".join(f"{f.region} {f.about} {f.year}: {f.value:.10g}" for f in shown)


def money(value, dice):
    if abs(value) >= 1e6 and dice.random() < 0.3:
        return f"${value / 1e6:.2f}M"
    return f"${value:,.0f}"


def percent(value, dice):
    return f"{value:.1f} %" if dice.random() < 0.7 else f"{value:.0f} %"


def whole(value, dice):
    return f"{value:.0f}"


def calculations(figures, dice):
    """(kind, value, writer, question, answer with {}) of each kind of calculation."""
    amounts = [f for f in figures if f.kind == "amount"]
    counts = [f for f in figures if f.kind == "count"]
    measure = next(f.about for f in amounts if f.year == 2023)
    now = [f for f in amounts if f.about == measure and f.year == 2024]
    before = {f.region: f for f in amounts if f.year == 2023}
    a, b, c = dice.sample(now, 3)
    n, m = dice.sample(counts, 2)
    own = next(f for f in counts if f.region == a.region)
    yield (
        "sum",
        a.value + b.value,
        money,
        f"What is the sum of the {measure} of {a.region} and {b.region} in 2024?",
        ["Together they come to {}.", f"{a.text} + {b.text} = {{}}.", "The sum is {}."],
    )
    yield (
        "total",
        sum(f.value for f in now),
        money,
        f"What was the total {measure} in 2024 over all regions?",
        ["The total was {}.", f"All regions together had {{}} of {measure} in 2024."],
    )
    yield (
        "difference",
        abs(a.value - b.value),
        money,
        f"How large is the difference between {a.region} and {b.region} in {measure} in 2024?",
        ["The difference is {}.", f"{a.region} had {a.text}, {b.region} {b.text}: a gap of {{}}."],
    )
    was = before[a.region]
    yield (
        "change",
        100 * (a.value - was.value) / was.value,
        percent,
        f"By how much did the {measure} of {a.region} change from 2023 to 2024?",
        [
            f"It changed by {{}}, from {was.text} to {a.text}.",
            f"The {measure} of {a.region} changed by {{}} between 2023 and 2024.",
        ],
    )
    yield (
        "share",
        100 * a.value / (a.value + b.value + c.value),
        percent,
        f"What share of the {measure} of {a.region}, {b.region} and {c.region} is {a.region}'s?",
        [
            f"The three have {money(a.value + b.value + c.value, random.Random(1))} in total"
            f" ({a.text} + {b.text} + {c.text}); {a.region}'s share of the total is {{}}.",
        ],
    )
    yield (
        "average",
        (a.value + b.value + c.value) / 3,
        money,
        f"What is the average {measure} of {a.region}, {b.region} and {c.region} in 2024?",
        ["On average {}.", f"The average of {a.text}, {b.text} and {c.text} is {{}}."],
    )
    yield (
        "per unit",
        a.value / own.value,
        money,
        f"How much {measure} per unit ({own.about}) did {a.region} have in 2024?",
        [f"{a.text} over {own.text} {own.about} makes {{}} per unit."],
    )
    yield (
        "counts",
        n.value + m.value,
        whole,
        f"How many {n.about} do {n.region} and {m.region} have together?",
        [
            "Together they have {}.",
            f"{n.region} has {n.text} and {m.region} {m.text}: {{}} in total.",
        ],
    )


def right(seed, size):
    """`size` of (kind, question, context, answer): all calculations are right."""
    dice = random.Random(seed)
    for _ in range(size):
        figures = world(dice)
        made = [one for one in calculations(figures, dice) if one[1] >= 0]
        kind, value, written, question, answers = dice.choice(made)
        answer = dice.choice(answers).format(written(value, dice))
        yield kind, question, context(figures, dice), answer


def wrong(seed, size):
    """`size` of (kind, question, context, answer, planted number): absolute numbers, percentages
    and small whole numbers, in a calculation, looked up wrongly, or beside the question.

    A planted number is at least 2 % off (a small whole number: another one). By accident it may be
    one of the 20.
    """
    dice = random.Random(seed)
    for _ in range(size):
        figures = world(dice)
        kind = dice.choice(["absolute", "percent", "small whole"])
        way = dice.choice(["calculated", "calculated", "looked up", "beside"])
        truth, question, answer = _asked(figures, kind, way, dice)
        planted = _planted(truth, kind, dice)
        yield kind, question, context(figures, dice), answer.format(planted), planted


_OF = {
    "absolute": ("sum", "total", "difference", "average", "per unit"),
    "percent": ("change", "share"),
    "small whole": ("counts",),
}
_LOOKED_UP = {"absolute": "amount", "percent": "percent", "small whole": "count"}


def _asked(figures, kind, way, dice):
    made = [one for one in calculations(figures, dice) if one[0] in _OF[kind]]
    _, value, _, question, answers = dice.choice(made)
    if way == "calculated":
        return value, question, dice.choice(answers)
    one = dice.choice([f for f in figures if f.kind == _LOOKED_UP[kind]])
    if way == "looked up":
        question = f"What was the {one.about} of {one.region} in {one.year}?"
    return one.value, question, f"The {one.about} of {one.region} was {{}} in {one.year}."


def _planted(truth, kind, dice):
    if kind == "small whole":
        return str(dice.choice([n for n in range(2, 100) if n != round(truth)]))
    if kind == "percent":
        off = dice.choice([-1, 1]) * dice.uniform(max(1.0, abs(truth) / 50), 30)
        return percent(abs(truth + off), dice)
    return money(truth * dice.choice([dice.uniform(0.3, 0.98), dice.uniform(1.02, 2.0)]), dice)
