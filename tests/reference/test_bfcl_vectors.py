"""Verdicts of BFCL's own AST checker, written as results and scores, are those of an import."""

import json
import shutil
from itertools import zip_longest

import pytest

from gate.importers.bfcl import Bfcl

CATEGORIES = ("simple_python", "multiple", "parallel", "parallel_multiple")


@pytest.fixture(scope="module")
def source(gate_real_data):
    return gate_real_data / "bfcl"


@pytest.fixture(scope="module")
def vectors(source):
    return json.loads((source / "ast_checker_vectors.json").read_text("utf-8"))["vectors"]


def rounds(vectors, category):
    """Results with each question once: the vectors have many mutations of one."""
    by_id = {}
    for one in vectors[category]:
        by_id.setdefault(one["id"], []).append(one)
    return [[one for one in some if one] for some in zip_longest(*by_id.values())]


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def failure(one, category):
    row = {"id": one["id"], "test_category": category, "valid": False, "error": ["Wrong."]}
    return {**row, "error_type": one["error_type"], "model_result_raw": one["model_output"]}


@pytest.mark.parametrize("category", CATEGORIES)
def test_verdicts_with_and_without_the_score_file_are_the_same(source, vectors, tmp_path, category):
    names = (f"BFCL_v4_{category}.sample.jsonl", f"possible_answer_{category}.sample.jsonl")
    given = {"questions": str(source / names[0]), "answers": str(source / names[1])}
    judged = 0
    for some in rounds(vectors, category):
        right = sum(one["valid"] for one in some)
        head = {"accuracy": right / len(some), "correct_count": right, "total_count": len(some)}
        wrong = [failure(one, category) for one in some if not one["valid"]]
        results = [{"id": one["id"], "result": one["model_output"]} for one in some]
        path = tmp_path / f"BFCL_v4_{category}_result.json"
        written(path, results)
        score = written(tmp_path / f"BFCL_v4_{category}_score.json", [head, *wrong])
        expected = [one["valid"] for one in some]
        for options in (given, {**given, "score": score}):
            found = Bfcl(**options).read(path)
            assert [one.attempt.passed for one in found.trials()] == expected
            assert not any("by our own comparison" in note for note in found.notes)
        judged += len(some)
    assert judged == len(vectors[category])


@pytest.mark.parametrize("category", [*CATEGORIES, "irrelevance"])
def test_sampled_questions_are_a_dataset(source, tmp_path, category):
    path = tmp_path / f"BFCL_v4_{category}.json"
    shutil.copy(source / f"BFCL_v4_{category}.sample.jsonl", path)
    answers = source / f"possible_answer_{category}.sample.jsonl"
    given = {"answers": str(answers)} if answers.exists() else {}
    cases = list(Bfcl(**given).read(path).cases())
    assert len(cases) == len(path.read_text("utf-8").splitlines())
    assert all(one.input and one.keys["tools"] for one in cases)
    assert all(
        bool(one.keys["expected_tool_calls"]) is (category != "irrelevance") for one in cases
    )
