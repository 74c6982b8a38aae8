"""WebArena itself as the reference: vectors that its evaluators scored, and its 812 tasks.

Tokens of one sign are compared with NLTK where it is installed, 3.8 as the benchmark had it.
"""

import importlib.util
import json
import os
import random
from collections import Counter
from pathlib import Path

import pytest

from gate.graders.webarena_rules.evaluation import evaluate
from gate.graders.webarena_rules.recorded import Recorded
from gate.graders.webarena_rules.task import (
    LAST,
    PAGE,
    STRING,
    URL,
    checks_of,
    open_sites,
    with_sites,
)
from gate.graders.webarena_rules.tokens import stands_alone

DATA = Path(os.environ.get("GATE_REAL_DATA", "")).absolute() / "webarena"
VECTORS, TASKS = DATA / "evaluator_vectors.json", DATA / "test.raw.json"
needs_data = pytest.mark.skipif(
    not TASKS.is_file(), reason="GATE_REAL_DATA names no folder with webarena/test.raw.json"
)
needs_nltk = pytest.mark.skipif(
    importlib.util.find_spec("nltk") is None, reason="nltk is not installed"
)
SITES = {
    name: f"http://{name.replace('_', '-')}.example"
    for name in ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia")
}


def vectors():
    return json.loads(VECTORS.read_text("utf-8"))["vectors"] if VECTORS.is_file() else []


def tasks():
    return [with_sites(task, SITES) for task in json.loads(TASKS.read_text("utf-8"))]


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["name"])
def test_a_vector_has_the_score_of_the_real_evaluator(vector):
    checks = checks_of(vector["eval"])
    results = vector.get("locator_results", {})
    located = {
        n: results.get(one.locator, "") for n, one in enumerate(checks.targets) if one.locator
    }
    found = evaluate(
        checks,
        Recorded(
            answer=vector.get("answer", ""),
            final_url=vector.get("final_url"),
            final_html=vector.get("page_content"),
            located=located,
        ),
    )
    assert not found.lacking
    judged = all(one.reference == one.answer for one in found.open)  # the vectors' stub judge
    assert (float(judged) if found.score is None else found.score) == vector["score"]


@pytest.mark.data
@needs_data
def test_there_are_vectors_of_each_kind():
    kinds = Counter(vector["kind"] for vector in vectors())
    assert kinds == {"string_match": 6, "url_match": 11, "program_html": 6}


@pytest.mark.data
@needs_data
def test_all_812_tasks_are_read_and_no_placeholder_is_left():
    found = tasks()
    assert len(found) == 812
    parts = Counter(checks_of(task["eval"]).parts for task in found)
    assert parts == {
        (STRING,): 325,
        (PAGE,): 282,
        (URL, PAGE): 129,
        (URL,): 66,
        (STRING, URL): 10,
    }
    assert not open_sites(json.dumps(found))


@pytest.mark.data
@needs_data
def test_what_can_be_judged_offline_is_what_the_recorded_parts_allow():
    said, ended, at_last, elsewhere = Counter(), Counter(), 0, 0
    for task in tasks():
        checks = checks_of(task["eval"])
        found = evaluate(checks, Recorded(answer="xyzzy"))
        kind = {one.kind for one in found.open}
        said[checks.parts, *sorted(kind)] += STRING in checks.parts
        without = evaluate(checks, Recorded(answer="xyzzy", final_url="http://x.example/"))
        ended[checks.parts] += URL in checks.parts and not without.lacking
        if checks.targets:
            last = all(one.url == LAST for one in checks.targets)
            at_last, elsewhere = at_last + last, elsewhere + (not last)
    judged = {key[1:]: 0 for key in said}
    for key, count in said.items():
        judged[key[1:]] += count
    assert said[(STRING,),] == 212
    assert (judged["reason",], judged["fuzzy",]) == (36, 82)
    assert (ended[(URL,)], ended[STRING, URL], ended[URL, PAGE]) == (66, 10, 0)
    assert (at_last, elsewhere) == (109, 302)


@pytest.mark.data
@needs_data
def test_the_task_with_an_or_in_its_answer_can_only_be_met_literally():
    task = next(task for task in tasks() if task["task_id"] == 386)
    scores = [
        evaluate(checks_of(task["eval"]), Recorded(answer=said)).score
        for said in ("65", "3", "65 |OR| 3")
    ]
    assert scores == [0.0, 0.0, 1.0]


SIGNS = ["5", "0", "a", "b", " ", " ", ",", ":", ";", "-", '"', "(", ")", "[", "]", "!", "?", "$"]
SIGNS += ["%", "/", "+", "=", "*", "&", "«", "”", "5.5", "...", "é", "_"]


@needs_nltk
def test_a_single_sign_is_a_word_where_nltk_says_so():
    """Within one sentence: where one ends, a trained model decides, which is not compared."""
    cut = importlib.import_module("nltk.tokenize").NLTKWordTokenizer().tokenize
    drawn = random.Random(20231101)
    for _ in range(20_000):
        text = "".join(drawn.choice(SIGNS) for _ in range(drawn.randint(1, 8)))
        text += drawn.choice(["", ".", '."', "'s", "n't", "'", "s' 5"])
        for sign in "5a":
            assert stands_alone(sign, text) is (sign in cut(text)), (sign, text)
