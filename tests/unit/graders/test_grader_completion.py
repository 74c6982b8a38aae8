import pytest

from gate.graders.completion import METRIC, Completion
from gate.records import Case, Response


@pytest.mark.parametrize("mode", ["strict", "upstream"])
@pytest.mark.parametrize(("answer", "passed"), [("0", True), ("", False), (" \n\u3000", False)])
def test_an_answer_with_anything_in_it_is_complete_in_both_modes(mode, answer, passed):
    score = Completion(mode=mode).grade(Case(id="a", input="?", keys={}), Response(answer=answer))
    assert score.passed is passed
    assert score.values == {METRIC: float(passed)}
    assert score.failures == (() if passed else ("empty_response",))
    assert bool(score.reason) is not passed
