"""People's labels in a run, from the outside: corrected values, judges that may not gate, whose
labels count.
"""

import json
import shutil

import pytest

from gate.commands.label_review.sample import answer_digest
from gate.records import Label
from gate.records.codec import to_json
from tests.support.git_repository import git
from tests.support.in_process import run_command, run_session, save_baseline
from tests.support.session_files import details_of, summary_of

FAITHFUL = "correctness.faithfulness"
CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:answer"}
judge: {type: python, callable: "./judge.py:judge", model: a-judge, min_agreement: 0.6}
suites:
  - name: s
    dataset: cases.jsonl
    graders: [judge, contains: {text: answer}]
    rounds: 2
gates: {correctness.faithfulness: {min: 2.5}}
"""
AGENT = "def answer(case):\n    return 'answer ' + case['input'] + 'WORSE'\n"
# The judge takes its score from the question, and 2 off where the answer says that it is worse.
JUDGE = """
import re

def judge(case):
    text = case["material"]
    score = 1 + int(re.search(r"answer q([0-9]+)", text).group(1)) % 5
    score = max(1, score - 2) if "worse" in text else score
    token = re.search(r"canary`: (\\S+)", case["instructions"]).group(1)
    names = ("correctness", "completeness", "faithfulness")
    scores = {name: {"reason": "so", "score": score} for name in names}
    return {**scores, "addressed_judge": False, "canary": token}
"""


def write(folder, *, worse="", judge="a-judge", more=""):
    config = CONFIG.replace("a-judge", judge)
    (folder / "gate.yml").write_text(f"{config}{more}\n")
    (folder / "agent.py").write_text(AGENT.replace("WORSE", worse))
    (folder / "judge.py").write_text(JUDGE)
    cases = [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "so"} for n in range(30)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


def label_all(folder, session, human):
    """People rate the answers of the first round; `human`: the judge's score -> theirs."""
    graders = json.loads((session / "meta.json").read_text())["suites"]["s"]["graders"]
    rows = [row for row in details_of(session) if row["round"] == 1]
    found = [
        Label(
            suite="s",
            case_id=row["case_id"],
            case_digest=row["case_digest"],
            round=1,
            answer_digest=answer_digest(row["output"]),
            rubric="answer",
            metric=metric,
            human=float(human(row["scores"][metric])),
            judge=row["scores"][metric],
            judge_digest=graders[metric],
            reviewer="Ann",
            labelled_at="2026-11-21T12:00:00Z",
        )
        for row in rows
        for metric in (
            "correctness.factual_correctness",
            "correctness.reference_coverage",
            FAITHFUL,
        )
    ]
    (folder / "reviews").mkdir(exist_ok=True)
    text = "".join(json.dumps(to_json(one)) + "\n" for one in found)
    (folder / "reviews" / "labels.jsonl").write_text(text)


def agreeing(score):
    return max(1.0, score - 1.0)


def contrary(score):
    return 6.0 - score


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A main branch with a baseline, and the session that it is from."""
    folder = tmp_path_factory.mktemp("main")
    write(folder)
    git(folder, "init", "-q", "-b", "main")
    (folder / ".gitignore").write_text("results\n__pycache__\n")
    session = run_session(folder, "--baseline", "none")
    save_baseline(folder, session)
    return folder, session


@pytest.fixture
def project(tmp_path, measured):
    """Main with labels, if wanted, and a branch where the agent got worse."""

    def made(human=None):
        main, session = measured
        folder = tmp_path / "project"
        shutil.copytree(main, folder, ignore=shutil.ignore_patterns("results", "__pycache__"))
        if human is not None:
            label_all(folder, session, human)
        commit(folder)
        git(folder, "checkout", "-q", "-b", "work")
        write(folder, worse=" worse")
        return folder

    return made


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")


def test_a_judge_that_people_agree_with_gates_and_is_corrected(project):
    folder = project(agreeing)
    session = run_session(folder, code=1)
    report = summary_of(session)
    assert report["outcome"] == "fail"
    assert FAITHFUL in report["reason"]
    corrected = report["suites"]["s"]["metrics"][FAITHFUL]["corrected"]
    value = report["suites"]["s"]["metrics"][FAITHFUL]["value"]
    assert corrected["n_labels"] == 30
    assert corrected["agreement"] > 0.7
    assert corrected["ci_low"] <= corrected["value"] < value  # at the end of the scale
    assert "corrected by 30 labels" in (session / "report.html").read_text("utf-8")
    assert "corrected by 30 labels" in (session / "comment.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("human", "why"),
    [
        (contrary, "weighted kappa with people −"),
        (None, "no person has rated answers that this judge scored"),
    ],
)
def test_one_that_they_do_not_agree_with_only_warns(project, human, why):
    session = run_session(project(human))
    report = summary_of(session)
    assert report["outcome"] == "pass"
    (row,) = (row for row in report["comparisons"] if row["metric"] == FAITHFUL)
    assert (row["status"], row["level"]) == ("regression", "warn")
    (gate,) = report["gates"]
    assert (gate["level"], why in gate["reason"]) == ("warn", True)
    assert any("do not gate" in note and why in note for note in report["notes"])
    assert "not gate: judge" in (session / "comment.md").read_text("utf-8")


def test_a_pull_request_cannot_take_the_labels_away_and_broken_rows_are_told(project):
    folder = project(agreeing)
    git(folder, "checkout", "-q", "main")
    path = folder / "reviews" / "labels.jsonl"
    path.write_text(path.read_text() + "{]\n")
    commit(folder)
    git(folder, "checkout", "-q", "-B", "work")
    write(folder, worse=" worse")
    path.unlink()
    report = summary_of(run_session(folder, "--protect", code=1))
    (note,) = report["notes"]
    assert note.startswith("reviews/labels.jsonl@")
    assert "1 row is wrong and left out: line 91: not JSON" in note
    assert report["suites"]["s"]["metrics"][FAITHFUL]["corrected"]["n_labels"] == 30


def test_without_protection_they_are_those_of_the_working_tree(project):
    folder = project(agreeing)
    for branch in ("main", "work"):
        git(folder, "checkout", "-q", "-B", branch)
        write(folder, worse=" worse", more="protect: false")
        commit(folder)
    (folder / "reviews" / "labels.jsonl").unlink()
    notes = summary_of(run_session(folder))["notes"]
    assert any("no person has rated answers that this judge scored" in note for note in notes)


def test_labels_beside_another_judge_correct_nothing_and_that_is_told(project):
    folder = project(agreeing)
    git(folder, "checkout", "-q", "-B", "main")
    write(folder, judge="another-judge")
    commit(folder)
    report = summary_of(run_session(folder, "--baseline", "none"))
    assert report["suites"]["s"]["metrics"][FAITHFUL]["corrected"] is None
    assert any("90 labels on" in note and "another judge" in note for note in report["notes"])


def test_a_judge_whose_code_the_branch_edits_is_another_one(project):
    folder = project(agreeing)
    (folder / "judge.py").write_text(JUDGE + "\n# kinder\n")
    report = summary_of(run_session(folder, "--protect", code=5))
    assert report["suites"]["s"]["metrics"][FAITHFUL]["corrected"] is None


def test_without_a_judge_people_are_heard_all_the_same(project):
    folder = project(agreeing)
    git(folder, "checkout", "-q", "-B", "main")
    nobody = CONFIG.replace("[judge, ", "[").replace("judge: {", "# judge: {").split("gates:")[0]
    (folder / "gate.yml").write_text(nobody)
    commit(folder)
    session = run_session(folder, "--baseline", "none")
    report = summary_of(session)
    people = {one["metric"]: one for one in report["suites"]["s"]["people"]}
    assert sorted(people) == [
        *("correctness.factual_correctness", FAITHFUL, "correctness.reference_coverage"),
    ]
    assert (people[FAITHFUL]["labels"], people[FAITHFUL]["reviewers"]) == (30, 1)
    assert report["notes"] == []
    told = f"People rated `{FAITHFUL}` {people[FAITHFUL]['mean']:.2f} ("
    for name in ("comment.md", "report.md"):
        assert told in (session / name).read_text("utf-8")
    assert "30 labels on 30 answers by 1 reviewer" in (session / "report.html").read_text("utf-8")
    shown = run_command(folder, "compare", str(session), str(session)).stdout
    assert told.replace("`", "") in shown


def test_compare_corrects_and_gates_alike(project):
    folder = project(agreeing)
    session = run_session(folder, "--baseline", "none", code=1)
    before = folder / "baselines"
    out = folder / "out"
    run_command(folder, "compare", str(before), str(session), "--out", str(out), code=1)
    assert "corrected by 30 labels" in (out / "report.md").read_text("utf-8")
    label_all(folder, session, contrary)
    run_command(folder, "compare", str(before), str(session), "--out", str(out))
    assert "not gate: judge" in (out / "report.md").read_text("utf-8")


def test_the_page_says_what_a_run_will_do(project):
    folder = project(agreeing)
    text = run_command(folder, "review", "agreement").stdout
    assert "90 labels on 30 answers of 30 cases, by Ann." in text
    assert "The judge gives 0.80 more than people on correctness.faithfulness." in text
    assert "May gate: kappa is at least 0.6" in text
    found = json.loads(run_command(folder, "review", "agreement", "--format", "json").stdout)
    assert [one["metric"] for one in found["agreements"]][-1] == FAITHFUL
    assert found["advisory"] == {"s": {}}
    marked = run_command(folder, "review", "agreement", "--format", "markdown").stdout
    assert "| `correctness.faithfulness` | 30 | " in marked


def test_the_page_of_a_broken_file_ends_with_2_and_shows_the_rest(project):
    folder = project(contrary)
    path = folder / "reviews" / "labels.jsonl"
    row = json.loads(path.read_text().splitlines()[-1])
    path.write_text(path.read_text() + json.dumps({**row, "human": 3.0}) + "\n")
    told = run_command(folder, "review", "agreement", code=2).stdout
    assert "1 row is wrong and left out:" in told
    assert "labels.jsonl:91: Ann rated this answer 3" in " ".join(told.split())
    assert "do not gate: kappa is not shown to be at least 0.60, and more labels" in " ".join(
        told.split()
    )


def test_labels_of_cases_that_are_gone_are_no_broken_file(project):
    folder = project(agreeing)
    cases = (folder / "cases.jsonl").read_text().splitlines(keepends=True)
    (folder / "cases.jsonl").write_text("".join(cases[1:]))
    told = run_command(folder, "review", "agreement").stdout
    assert "3 rows are out of date and left out:" in told
    assert "29 cases" in told


def test_a_missing_file_and_a_suite_without_a_judge_are_told(project):
    folder = project()
    missing = run_command(folder, "review", "agreement", code=2).stderr
    assert "reviews/labels.jsonl: no such file; `gate review sample`" in missing
    nobody = CONFIG.replace("[judge, ", "[").replace("judge: {", "# judge: {").split("gates:")[0]
    (folder / "gate.yml").write_text(nobody)
    assert (
        "no suite has a grader that uses a judge"
        in run_command(folder, "review", "agreement", code=2).stderr
    )
