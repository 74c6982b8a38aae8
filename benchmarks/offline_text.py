"""10,000 answers of 2 KB through `facts` and `hallucination` without a model, on one core.

Answers have about 25 numbers, their contexts too; most numbers are in the context, some are
calculated from it, some are made up. Bound: 10 s. `python benchmarks/offline_text.py [ANSWERS]`
"""

import random
import sys
import time

from gate.graders.facts import Facts
from gate.graders.hallucination import Hallucination
from gate.records import Case, Response

SIZE = 2048  # characters of an answer and of a context
FILL = (
    "The regional team looked at the figures again and found nothing that would change the plan. "
    "Managers expect a calm autumn, since the larger contracts have been signed and delivered. "
    "None of the partners has asked for another review of the terms so far. "
    "Orders from returning customers matter more than those of new ones in this line of business. "
)
ITEMS = ("revenue", "costs", "orders", "refunds", "visits", "payroll", "stock", "claims")
PLACES = ("North", "South", "East", "West", "Harbour", "Valley", "Lakeside", "Highland")


def answers(count, seed=20261121):
    """`count` of (case, response)."""
    dice = random.Random(seed)
    for n in range(count):
        figures = [
            (f"{place} {item}", dice.randrange(1_000, 4_000_000))
            for place in PLACES
            for item in dice.sample(ITEMS, 3)
        ]
        context = _filled([f"The {label} came to ${value:,}. " for label, value in figures], dice)
        sentences = [f"The {label} was ${value:,}. " for label, value in figures[:18]]
        (one, a), (two, b), (_, c), (_, d) = figures[:4]
        sentences.append(f"The sum of {one} and {two} is ${a + b:,}. ")
        sentences.append(f"Together with ${c:,} and ${d:,} it makes ${c + d:,}. ")
        sentences.append(f"About {dice.randrange(20, 90)} % of this was expected in 2024. ")
        sentences.append(f"Another {dice.randrange(2_000, 90_000):,} units were not. ")
        facts = [{"value": value} for _, value in figures[:3]]
        case = Case(id=str(n), input="What came in, by region?", keys={"expected_facts": facts})
        yield case, Response(answer=_filled(sentences, dice), context=context)


def _filled(sentences, dice):
    missing = SIZE - sum(map(len, sentences))
    fill = (FILL * 8)[: max(0, missing)]
    at = dice.randrange(len(sentences))
    return "".join((*sentences[:at], fill, " ", *sentences[at:]))[:SIZE]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    pairs = list(answers(count))
    spent, unsupported = {"facts": 0.0, "hallucination": 0.0}, 0.0
    began = time.process_time()
    facts, hallucination = Facts(), Hallucination()
    for case, response in pairs:
        start = time.process_time()
        assert facts.grade(case, response).passed
        middle = time.process_time()
        values = hallucination.grade(case, response).values
        unsupported += values["operational.unverified_rate"]
        spent["facts"] += middle - start
        spent["hallucination"] += time.process_time() - middle
    total = time.process_time() - began
    print(
        f"{count} answers: {total:.2f} s ({', '.join(f'{k} {v:.2f} s' for k, v in spent.items())})"
    )
    print(f"unsupported: {100 * unsupported / count:.1f} % of the numbers of an answer")


if __name__ == "__main__":
    main()
