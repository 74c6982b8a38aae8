"""What real runs print, against a calculator that reads nothing but their rows."""

import json
import re
from statistics import mean, quantiles

import pytest

from tests.support.in_process import run_command, run_session, save_baseline
from tests.support.read_back import in_markdown, in_page, text_of
from tests.support.session_files import details_of

AGENT = """
import time
from gate.errors import InfraFailure

def agent(case):
    n = int(case["id"])
    time.sleep(0.004 + n / 8000)
    if n < LOST:
        raise InfraFailure("nobody is there")
    return {"answer": "no" if n % 24 < WRONG else "yes", "cost_usd": 0.01 + n / 1000}
"""
GRADERS = "exact_match"
OTHERS = "exact_match, {contains: {text: 'yes'}}"


def write(folder, wrong, gates="", suites=("s",), graders=GRADERS, lost=0):
    rows = [{"id": str(n), "input": f"q{n}", "expected_answer": "yes"} for n in range(24)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "agent.py").write_text(AGENT.replace("WRONG", str(wrong)).replace("LOST", str(lost)))
    named = "".join(
        f"  - {{name: {name}, dataset: cases.jsonl, graders: [{graders}], rounds: 2}}\n"
        for name in suites
    )
    (folder / "gate.yml").write_text(
        'version: 1\nagent: {type: python, callable: "./agent.py:agent"}\n'
        f"suites:\n{named}{gates}"
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    write(folder, 3, suites=("s", "t"))
    save_baseline(folder, run_session(folder, "--baseline", "none"))
    return folder / "baselines"


BELOW = "gates:\n  agent.success_rate: {min: 0.9}\n"


@pytest.mark.parametrize(
    ("wrong", "baseline", "more", "gates", "suites", "outcome", "code"),
    [
        (3, True, (), "", ("s",), "pass", 0),
        (3, True, ("--stop", "off"), "", ("s",), "pass", 0),
        (14, True, (), "", ("s",), "fail", 1),
        (3, False, (), BELOW, ("s",), "fail", 1),
        (3, False, (), "", ("s",), "no_baseline", 0),
        (14, True, ("--stop", "off"), "", ("s", "t"), "fail", 1),
    ],
)
def test_every_report_says_what_the_rows_say(
    tmp_path, measured, wrong, baseline, more, gates, suites, outcome, code
):
    write(tmp_path, wrong, gates, suites)
    against = ("--baseline", str(measured) if baseline else "none")
    printed = run_command(tmp_path, "run", *against, *more, code=code).stdout
    session = tmp_path / printed.splitlines()[-1].removeprefix("Session written to: ")
    said = {
        name: (session / name).read_text("utf-8")
        for name in ("comment.md", "report.md", "report.html")
    }
    read, page = in_page("report.html", said["report.html"])
    read += [row for name in ("comment.md", "report.md") for row in in_markdown(name, said[name])]
    texts = [text_of(said["comment.md"]), text_of(said["report.md"]), page, printed]
    assert json.loads((session / "summary.json").read_text("utf-8"))["outcome"] == outcome
    for suite in suites:
        rounds = {}
        for row in details_of(session):
            if row["suite"] == suite:
                rounds.setdefault(row["case_id"], []).append(row["passed"])
        rate = mean(mean(passed) for passed in rounds.values())
        shown = {row.cells["now"] for row in read if names(row, suite, "agent.success_rate")}
        assert shown == {f"{rate + 1e-9:.2f}"}
        passing = sum(map(all, rounds.values()))
        for text in texts:
            assert f"{passing} of {len(rounds)} cases pass" in text


def _in_ms(latency):
    return f"{latency + 1e-9:,.{0 if latency >= 99.95 else 1}f} ms"


@pytest.mark.parametrize(
    ("outcome", "code", "wrong", "graders", "lost"),
    [
        ("pass", 0, 3, GRADERS, 0),
        ("fail", 1, 14, GRADERS, 0),
        ("inconclusive", 0, 5, GRADERS, 0),
        ("not_comparable", 5, 3, OTHERS, 0),
        ("error", 6, 3, GRADERS, 12),
    ],
)
def test_latency_and_cost_are_those_of_the_rows_in_each_outcome(
    tmp_path, measured, outcome, code, wrong, graders, lost
):
    write(tmp_path, wrong, graders=graders, lost=lost)
    asked = ("run", "--baseline", str(measured), "--stop", "off")
    printed = run_command(tmp_path, *asked, code=code).stdout
    session = tmp_path / printed.splitlines()[-1].removeprefix("Session written to: ")
    assert json.loads((session / "summary.json").read_text("utf-8"))["outcome"] == outcome
    rows = [row for row in details_of(session) if row["status"] == "completed"]
    times = [row["latency_ms"] for row in rows]
    wanted = {
        "operational.mean_latency_ms": _in_ms(mean(times)),
        "operational.worst_latency_ms": _in_ms(max(times)),
        "operational.p95_latency_ms": _in_ms(quantiles(times, n=20, method="inclusive")[18]),
        "agent.cost_per_task": f"${mean(row['cost_usd'] for row in rows) + 1e-9:.3f}",
        "correctness.exact_match": f"{mean(row['passed'] for row in rows) + 1e-9:.2f}",
    }
    read, _ = in_page("report.html", (session / "report.html").read_text("utf-8"))
    for name in ("comment.md", "report.md"):
        read += in_markdown(name, (session / name).read_text("utf-8"))
    for metric, figure in wanted.items():
        shown = {row.where: row.cells["now"] for row in read if row.metric == metric}
        assert set(shown.values()) == {figure}, (metric, shown)
        short = metric.partition(".")[2]
        told = re.findall(rf"(?<!\w){short} (\$?[\d.]+(?: ms)?)", printed)
        assert set(told) <= {figure}, (metric, told)


def names(row, suite, metric):
    return row.metric == metric and row.suite in ("", suite)
