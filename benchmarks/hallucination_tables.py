"""How often `hallucination` is wrong offline on tables of other hands: TAT-QA's development set.

`GATE_REAL_DATA=FOLDER python benchmarks/hallucination_tables.py [--list]`, with the file
`tatqa/tatqa_dataset_dev.json` in the folder. Its answers are put into a plain sentence, right and
with another value.
"""

import json
import os
import random
import re
import sys
from collections import Counter
from pathlib import Path

from gate.graders.hallucination import ANSWERS, Hallucination
from gate.records import Case, Response

TATQA = Path(os.environ.get("GATE_REAL_DATA", "/nowhere")) / "tatqa" / "tatqa_dataset_dev.json"


_TOLD = re.compile(r"thousand|million|billion|[€$£] ?(?:m|k|bn)\b|['\u2019]000", re.IGNORECASE)


def supported(answer, context, question=""):
    """Whether the grader, without a verifier, finds all numbers of the answer supported."""
    case = Case(id="a", input=question, keys={"context": context})
    return Hallucination().grade(case, Response(answer=answer)).values[ANSWERS] == 0


def tatqa_cases(path, seed=1):
    """The same of TAT-QA: answers that are one number, right, and with the value of another
    question on the same table, or moved by 3 to 30 %.
    """
    dice = random.Random(seed)
    for one in json.loads(path.read_text(encoding="utf-8")):
        rows = ("| " + " | ".join(map(str, row)) + " |" for row in one["table"]["table"])
        texts = [part["text"] for part in one["paragraphs"]]
        context = ["\n".join(rows), *texts]
        asked = [q for q in one["questions"] if q["answer_type"] in ("arithmetic", "span")]
        values = {q["question"]: _one_number(q) for q in asked}
        for question in asked:
            value = values[question["question"]]
            if value is None:
                continue
            if value in range(1900, 2100):
                continue  # a year
            told = _TOLD.search("\n".join(context)) is not None
            others = [v for v in values.values() if v is not None and abs(v) != abs(value)]
            kind = "calculated" if question["answer_type"] == "arithmetic" else "looked up"
            wrongs = {f"{kind}, moved": value * dice.choice((0.7, 0.9, 0.97, 1.03, 1.1, 1.3))}
            if others:
                wrongs[f"{kind}, another one"] = dice.choice(others)
            for name, number in {kind: value, **wrongs}.items():
                places = _decimals(question)
                answer = f"{_said(question)} {_shown(number, places, question, told)}."
                yield name, name == kind, answer, context, question["question"]


def _one_number(question):
    answer = question["answer"]
    if isinstance(answer, list):
        if len(answer) != 1:
            return None
        answer = answer[0]
    try:
        return float(str(answer).strip("$£€% ").replace(",", "")) or None
    except ValueError:
        return None


def _decimals(question):
    answer = question["answer"]
    text = str(answer[0] if isinstance(answer, list) else answer).strip("$£€% ")
    return len(text.partition(".")[2])


def _said(question):
    return "The answer is" if len(question["question"]) % 2 else "It comes to"


def _shown(number, places, question, told):
    """With "million" only where the context says that its figures are millions."""
    scale = question["scale"] if told or question["scale"] == "percent" else ""
    written = f"{abs(number):,.{places}f}"
    sign = "-" if number < 0 else ""
    return f"{sign}{written} %" if scale == "percent" else f"{sign}{written} {scale}".strip()


def told(name, cases, listed):
    """One line for all, one for each kind."""
    asked, missed = Counter(), Counter()
    for kind, right, answer, context, question in cases:
        asked[kind, right] += 1
        if supported(answer, context, question) is not right:
            missed[kind, right] += 1
            if listed:
                print(f"  {'rejects' if right else 'accepts'} [{kind}] {answer}")
    print(f"{name}: {_line(asked, missed, lambda kind: True)}")
    for kind in sorted({kind for kind, _ in asked}):
        print(f"  {kind:25} {_line(asked, missed, lambda one, kind=kind: one == kind)}")


def _line(asked, missed, of):
    parts = []
    for right, about in ((False, "false accepts"), (True, "false rejects")):
        total = sum(n for (kind, verdict), n in asked.items() if verdict is right and of(kind))
        wrong = sum(n for (kind, verdict), n in missed.items() if verdict is right and of(kind))
        if total:
            parts.append(f"{about} {wrong} of {total} ({100 * wrong / total:.0f} %)")
    return ", ".join(parts)


if __name__ == "__main__":
    told("TAT-QA, tables of other hands", tatqa_cases(TATQA), "--list" in sys.argv)
