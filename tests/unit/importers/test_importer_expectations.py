"""What imported cases expect, where the source of a format has it; and what main answered."""

import csv

import pytest

from gate.analysis.expected import describe_expected, expected_of
from tests.support.importing import read_results
from tests.support.in_process import gate, run_command
from tests.support.paths import DATA
from tests.support.session_files import summary_of

IMPORTS = DATA / "imports"
TASKS = {
    "tasks": str(IMPORTS / "webarena" / "tasks.json"),
    "sites": {"shopping": "http://shop.example:7770", "map": "http://map.example:3000"},
}
QUESTIONS = {
    "questions": str(IMPORTS / "bfcl" / "BFCL_v4_simple_python.json"),
    "answers": str(IMPORTS / "bfcl" / "possible_answer"),
}
FILLED = [
    ("bfcl", "bfcl", QUESTIONS, "shop.order(item=pear or pears, count=2, gift=false)"),
    ("braintrust", "braintrust/experiment.jsonl", {"pass_score": "Factuality>=0.5"}, "carrier"),
    ("deepeval", "deepeval", {}, "30 days"),
    ("inspect", "inspect/rates.json", {}, "11.7"),
    ("promptfoo", "promptfoo/monday.json", {}, "30 days"),
    ("pydantic-evals", "pydantic-evals/report.json", {}, "11.7"),
    ("tau-bench", "tau-bench", {}, "cancel_pending_order(order_id=W10, reason=no longer needed)"),
    ("tau2", "tau2/results.json", {}, "book_seat(seat=4A)"),
    ("trec", "trec", {}, "documents pear, plum"),
    ("webarena", "webarena/answers.jsonl", TASKS, "4"),
    ("webarena", "webarena/run", TASKS, "page http://shop.example:7770/basket"),
    ("webarena", "webarena/study", TASKS, "1h 30min"),
]
# Their files say how a case ended, and not what was expected of it.
EMPTY = [
    ("junit", "junit/nightly", {}),
    ("langfuse", "langfuse/traces.csv", {"pass_score": "accuracy>=1"}),
    ("messages", "messages/shop.jsonl", {}),
    ("mini-swe-agent", "mini-swe-agent/run", {}),
    ("otel", "otel/after.jsonl", {}),
    ("swebench", "swebench/run", {}),
    ("thudm-agentbench", "thudm-agentbench/2026-05-12-14-30-52", {}),
    ("webarena", "webarena/run", {}),
]


def expectations(tool, path, options):
    trials = read_results(tool, path, **options).trials()
    return [describe_expected(expected_of(trial.case)) for trial in trials]


@pytest.mark.parametrize(("tool", "path", "options", "text"), FILLED)
def test_what_a_source_expects_is_kept(tool, path, options, text):
    found = IMPORTS / path
    if tool == "tau-bench":
        (found,) = found.glob("*.json")
    told = expectations(tool, found, options)
    assert any(one.startswith(text) for one in told), told


@pytest.mark.parametrize(("tool", "path", "options"), EMPTY)
def test_nothing_is_made_up_where_a_source_expects_nothing(tool, path, options):
    assert set(expectations(tool, IMPORTS / path, options)) == {""}


def test_an_expected_output_of_langfuse_is_kept(tmp_path):
    with (IMPORTS / "langfuse" / "traces.csv").open(newline="") as source:
        rows = [{**row, "expectedOutput": "With the carrier"} for row in csv.DictReader(source)]
    with (tmp_path / "traces.csv").open("w", newline="") as target:
        writer = csv.DictWriter(target, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    told = expectations("langfuse", tmp_path / "traces.csv", {"pass_score": "accuracy>=1"})
    assert set(told) == {"With the carrier"}


def test_what_the_tool_recorded_on_main_is_what_came_before(tmp_path):
    main, now = (str(IMPORTS / "promptfoo" / f"{day}.json") for day in ("tuesday", "monday"))
    run_command(tmp_path, "import", "promptfoo", main)
    (session,) = (tmp_path / "results").glob("session-*")
    run_command(tmp_path, "baseline", "save", str(session), "--out", "kept")
    done = gate(tmp_path, "import", "promptfoo", now, "--baseline", "kept", "--out", "now")
    assert done.returncode in (0, 1), done.stderr
    (session,) = (tmp_path / "now").glob("session-*")
    (suite,) = summary_of(session)["suites"].values()
    (texts,) = (one for name, one in suite["texts"].items() if name.startswith("shipping"))
    assert (texts["was"][:22], texts["now"][:21]) == (
        "Shipping to Norway cos",
        "Shipping to Norway is",
    )
    assert texts["expected"]
