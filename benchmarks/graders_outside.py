"""How often graders judge as a person would, on cases written from the outside.

`python benchmarks/graders_outside.py [PART ...]`; sets that are called apart were kept from whoever
mended the graders, the others were looked at, mostly after a first measurement. Strangers are
language models that had seen neither graders nor other cases. `--wrong` lists the wrong verdicts of
two sets, `--wrong-apart` those of all.
To measure an older version: `PYTHONPATH=OLDER_CHECKOUT`.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from gate.errors import GraderFailure
from gate.graders.facts import Facts
from gate.graders.hallucination import Hallucination
from gate.graders.numeric import Numeric
from gate.records import Case, Response

DATA = Path(__file__).parents[1] / "tests/data/graders_outside"
SETS = {
    "tuned": "",
    "kept apart": "_apart",
    "written afterwards": "_apart2",
    "a stranger's": "_stranger",
    "a stranger's, first kept apart": "_stranger_apart",
    "a second stranger's": "_stranger2",
    "a third stranger's": "_stranger3",
    "a fourth stranger's": "_stranger4",
    "a fifth stranger's": "_stranger5",
    "a sixth stranger's": "_stranger6",
    "a seventh stranger's": "_stranger7",
    "an eighth stranger's": "_stranger8",
    "a ninth stranger's": "_stranger9",
    "a tenth stranger's, kept apart": "_stranger10",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A case, whether it should pass and whether it did."""

    kind: str
    case: str
    right: bool
    passed: bool | None  # None: the grader leaves it to a verifier
    mistake: str = ""  # of a wrong answer, where it is told: in a "value" or in "words"


def judge_facts(written: dict) -> Iterator[Judged]:
    for kind, examples in written.items():
        for fact, answer, right, *options in examples:
            given = dict(options[0]) if options else {}
            if given.pop("grader", "facts") == "numeric":
                grader, keys = Numeric(**given), {"expected_answer": fact}
            else:
                grader, keys = Facts(**given), {"expected_facts": [fact]}
            case = Case(id="a", input="?", keys=keys)
            try:
                passed = grader.grade(case, Response(answer=answer)).passed is True
            except GraderFailure:
                passed = not right  # an answer that could not be judged is judged wrong
            shown = f"{fact!r} in {answer!r} {given or ''}"
            yield Judged(kind=kind, case=shown, right=right, passed=passed)


def judge_hallucination(written: list | dict) -> Iterator[Judged]:
    """Without a verifier: an answer passes if all its numbers are supported, and fails if one is
    contradicted.
    """
    for kind, context, question, answer, right, mistake in _asked(written):
        case = Case(id="a", input=question, keys={"context": context})
        score = Hallucination(max_rate=0).grade(case, Response(answer=answer))
        yield Judged(kind=kind, case=answer, right=right, passed=score.passed, mistake=mistake)


def _asked(written: list | dict) -> Iterator[tuple[str, str, str, str, bool, str]]:
    """Kind, context, question, answer, whether it is right and where it is wrong; of contexts with
    answers, or of kinds with cases.
    """
    if isinstance(written, dict):
        for kind, cases in written.items():
            for one in cases:
                question = one.get("question", "")
                mistake = one.get("mistake", "")
                yield kind, one["context"], question, one["answer"], one["supported"], mistake
        return
    for one in written:
        for right in (True, False):
            for kind, answer in one["right" if right else "wrong"]:
                yield kind, one["context"], one.get("question", ""), answer, right, ""


PARTS = {"facts": judge_facts, "hallucination": judge_hallucination}


def set_file(part: str, which: str) -> Path:
    return DATA / f"{part}{SETS[which]}.yml"


def judged(part: str, which: str) -> list[Judged]:
    return list(PARTS[part](yaml.safe_load(set_file(part, which).read_text("utf-8"))))


def told(cases: list[Judged]) -> str:
    """`3 of 60 accepts false (5.0 %), ...`: shares of the cases that should fail, and pass."""
    wrong = [one for one in cases if not one.right]
    right = [one for one in cases if one.right]
    accepted = sum(one.passed is True for one in wrong)
    refused = sum(one.passed is False for one in right)
    share = (accepted + refused) / max(1, len(cases))
    left = [sum(c.passed is None for c in some) for some in (wrong, right)]
    return (
        f"{len(cases)} cases, false accepts {accepted} of {len(wrong)}"
        f" ({accepted / max(1, len(wrong)):.1%}), false rejects {refused} of {len(right)}"
        f" ({refused / max(1, len(right)):.1%}), wrong {share:.1%}"
        + (f", left open {left[0]} and {left[1]}" if any(left) else "")
        + _told_by_mistake(wrong)
    )


def _told_by_mistake(wrong: list[Judged]) -> str:
    shares = []
    for mistake in sorted({one.mistake for one in wrong} - {""}):
        passed = [one.passed is True for one in wrong if one.mistake == mistake]
        shares.append(f"; wrong in a {mistake}: {sum(passed)} of {len(passed)} accepted")
    return "".join(shares).replace("in a words", "in words")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--wrong-apart", action="store_true")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        for which in filter(lambda which: set_file(part, which).exists(), SETS):
            cases = judged(part, which)
            print(f"{part}, {which}: {told(cases)}")
            if options.wrong_apart or (options.wrong and which in ("tuned", "a stranger's")):
                for one in cases:
                    if one.passed is (not one.right):
                        says = "accepts" if one.passed else "rejects"
                        print(f"  {one.kind}: {says} {one.case}")


if __name__ == "__main__":
    main()
