"""The leaderboard's own evaluator judges results made here; imported, they are worth the same.

Importing it takes about ten seconds, so it runs once for all tests of this module.
"""

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest

from gate.importers.bfcl import Bfcl

pytestmark = pytest.mark.peers

MODEL = "gpt-4o-2024-11-20-FC"
EACH = 6  # questions of a category

# Answers that are right, or spoiled in one of several ways, for the first questions of every
# category; then its own evaluation. `soundfile`, a dependency of a dependency, needs a library of
# the system and is not used.
EVALUATE = """
import itertools, json, sys, types
sys.modules.setdefault("soundfile", types.ModuleType("soundfile"))
from bfcl_eval.constants.category_mapping import ALL_SCORING_CATEGORIES
from bfcl_eval.constants.eval_config import RESULT_PATH
from bfcl_eval.eval_checker import eval_runner
from bfcl_eval import utils

model, each = sys.argv[1], int(sys.argv[2])
turn = itertools.count()

def first(values):
    kept = [v for v in values if v != ""] if isinstance(values, list) else [values]
    return nested(kept[0]) if kept else None

def nested(value):
    if isinstance(value, dict):
        return {k: first(v) for k, v in value.items() if first(v) is not None}
    return [nested(v) for v in value] if isinstance(value, list) else value

def right(truth):
    return [{name: nested(args)} for one in truth for name, args in one.items()]

def spoiled(made):
    (name, args), = made[0].items()
    key = next(iter(args), "x")
    ways = (made, made[1:], made + made, [{name + "_x": args}], [{name: {**args, "zz": 1}}],
            [{name: {**args, key: {"no": "value"}}}], [{name: {}}], made)
    return ways[next(turn) % len(ways)]

def said(made):
    return [{n.replace(".", "_"): json.dumps(a)} for one in made for n, a in one.items()]

for category in ALL_SCORING_CATEGORIES:
    options = {"include_prereq": False, "include_language_specific_hint": False}
    rows = utils.load_dataset_entry(category, **options)[:each]
    none = "relevance" in category
    truths = [None] * each if none else utils.load_ground_truth_entry(category)
    out = []
    for n, (row, truth) in enumerate(zip(rows, truths)):
        one = {"id": row["id"], "input_token_count": 10, "output_token_count": 5, "latency": 0.5}
        if none:
            one["result"] = said([{"f": {}}]) if n % 3 == 0 else "I cannot."
        elif "multi_turn" in category:
            one["result"] = [["Done."] for _ in truth["ground_truth"]][n % 2 :]
            one["latency"] = [[0.5, 0.25], [1]]
        elif "memory" in category or "web_search" in category:
            one["result"] = [[truth["ground_truth"][0] if n % 2 else "?"]]
        else:
            one["result"] = said(spoiled(right(truth["ground_truth"])))
        if n == 5 and category == "live_simple":
            one["result"] = "Error during inference: Error code: 429 - rate limit"
        out.append(one)
    folder = RESULT_PATH / model / utils.get_directory_structure_by_category(category)
    utils.write_list_of_dicts_to_file(f"BFCL_v4_{category}_result.json", out, folder)
eval_runner.main([model], ["all_scoring"], None, None, partial_eval=True)
"""


@pytest.fixture(scope="module")
def peer():
    named = os.environ.get("GATE_PEERS")
    python = Path(named or "", "bfcl-eval", "bin", "python")
    if not named or not python.exists():
        pytest.skip("GATE_PEERS names no folder with an environment of bfcl-eval")
    return python


@pytest.fixture(scope="module")
def run(peer, tmp_path_factory):
    """A folder with result/ and score/."""
    folder = tmp_path_factory.mktemp("bfcl")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "BFCL_PROJECT_ROOT": str(folder),
        "OPENAI_API_KEY": "unused",
    }
    command = [str(peer), "-c", EVALUATE, MODEL, str(EACH)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def mean(found, name):
    values = [one.attempt.scores["bfcl"].values.get(name) for one in found.trials()]
    measured = [one for one in values if one is not None]
    return sum(measured) / len(measured)


def scores(run):
    for path in sorted((run / "score").rglob("*_score.json")):
        first, *_ = path.read_text("utf-8").splitlines()
        yield path.name.removeprefix("BFCL_v4_").removesuffix("_score.json"), json.loads(first)


def test_every_category_and_the_overall_score_are_those_of_its_table(run):
    found = Bfcl().read(run)
    headers = dict(scores(run))
    assert len(headers) == 22
    for category, header in headers.items():
        assert mean(found, f"bfcl.accuracy[{category}]") == pytest.approx(header["accuracy"])
    assert len({header["accuracy"] for header in headers.values()}) > 3
    with (run / "score" / "data_overall.csv").open() as file:
        (row,) = csv.DictReader(file)
    told = {
        "Overall Acc": "bfcl.overall",
        "Non-Live AST Acc": "bfcl.group_accuracy[non_live]",
        "Live Acc": "bfcl.group_accuracy[live]",
        "Multi Turn Acc": "bfcl.group_accuracy[multi_turn]",
    }
    for column, name in told.items():
        assert f"{mean(found, name):.2%}" == row[column], name


def test_our_own_comparison_comes_to_the_same_verdicts(run, peer):
    (data,) = peer.parent.parent.glob("lib/python3*/site-packages/bfcl_eval/data")
    found = Bfcl(questions=str(data)).read(run)
    assert not any("by our own comparison" in note for note in found.notes)
    assert sum(bool(one.case.keys) for one in found.trials()) >= 10 * EACH
    codes = {code for one in found.trials() for code in one.attempt.failures}
    assert {"wrong_count", "wrong_func_name", "unexpected_param", "missing_required"} <= codes


def test_what_never_came_is_nobodys_fault(run):
    (trial,) = [one for one in Bfcl().read(run).trials() if one.attempt.status == "infra_error"]
    assert trial.case.category == "live_simple"
    assert trial.attempt.scores["bfcl"].values["bfcl.accuracy"] == 0.0
