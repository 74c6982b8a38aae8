"""What a judge is told by each rubric, word for word. A changed prompt is another measure: read the
diff, and note that baselines of its metrics will not be comparable.
"""

from pathlib import Path

import pytest

from gate.graders.judge import Judge
from gate.graders.rubrics.built_in import BUILT_IN
from gate.graders.rubrics.rubric import Criterion, Rubric
from gate.records import Case, Document, Response, ToolCall

HERE = Path(__file__).parent / "rubrics"
PAIR = Rubric(
    name="pair",
    about="Two answers to a customer.",
    criteria={"helpful": Criterion(about="Which one helps more?")},
    compare_with="expected_answer",
)
RUBRICS = {**{name: name for name in BUILT_IN}, "pair": PAIR}
CASE = Case(
    id="a",
    input="Why did sales fall?",
    keys={"expected_answer": "Nobody knows.", "rubric": "Gives no cause."},
)
RESPONSE = Response(
    answer="Because of the rain.",
    retrieved=(Document(id="kb-1", text="Sales fell by 4 %."), Document(id="kb-2", text="Rain.")),
    steps=(ToolCall(name="search", arguments={"q": "sales"}, result="4 %"),),
)


def prompts(rubric):
    parts = []
    for question in Judge(rubric=rubric).questions(CASE, RESPONSE):
        parts += [f"# {question.name}", question.instructions, "# material", question.material]
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("name", sorted(RUBRICS))
def test_golden(name, request):
    file, now = HERE / f"{name}.txt", prompts(RUBRICS[name])
    if request.config.getoption("--update-golden", default=False):
        file.parent.mkdir(exist_ok=True)
        file.write_text(now, encoding="utf-8", newline="\n")
    assert file.read_text(encoding="utf-8") == now, (
        f"{file.name} differs; if that is meant: pytest tests/golden --update-golden"
    )


def test_no_golden_file_is_left_over():
    assert {file.stem for file in HERE.glob("*")} == set(RUBRICS)


@pytest.mark.parametrize("name", sorted(RUBRICS))
def test_the_digest_follows_every_word_of_the_prompt(name):
    """What makes metrics comparable holds the instructions, but for the token of one case."""
    judge = Judge(rubric=RUBRICS[name])
    text = judge.digest_text()
    for question in judge.questions(CASE, RESPONSE):
        for line in question.instructions.replace(question.canary, "").splitlines():
            assert line.replace('"', '\\"').strip() in text
