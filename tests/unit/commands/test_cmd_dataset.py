"""`gate dataset`, from the command line to the file."""

import json
from pathlib import Path

import pytest

from gate.cli import run

CONFIG = """\
version: 1
agent: {type: sample}
judge: {type: python, callable: "./judge.py:propose"}
suites:
  - name: first
    dataset: cases.jsonl
    graders: [facts, {judge: {rubric: quality}}]
"""
JUDGE = '''
import json, re

def propose(case):
    """A model that finds new questions, in the form that it is told."""
    told = case["input"] if isinstance(case["input"], str) else json.dumps(case["input"])
    canary = re.search(r'canary.{0,12}?const.{0,8}?([0-9a-f]{16})', told)[1]
    one = {"category": "new", "expected_answer": None, "expected_facts": [], "why": "w"}
    if "entry 1" in told:
        return {"canary": canary, "cases": [{"entry": 1, "keep": True, **one}]}
    cases = [{"input": f"Fresh {n} words {n}{n} here {n}{n}{n}?", **one} for n in range(1, 4)]
    return {"canary": canary, "cases": cases}
'''
CASES = "".join(
    json.dumps({"id": f"c{n}", "input": f"Question {n} on topic{n}?", "expected_facts": ["x"]})
    + "\n"
    for n in range(4)
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "gate.yml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "judge.py").write_text(JUDGE, encoding="utf-8")
    (tmp_path / "cases.jsonl").write_text(CASES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cases(file="cases.jsonl"):
    return [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]


def test_proposals_are_appended_and_what_was_there_stays(project, capsys):
    assert run(["dataset", "extend", "cases.jsonl", "--count", "2"], {}) == 0
    assert (project / "cases.jsonl").read_text(encoding="utf-8").startswith(CASES)
    new = cases()[4:]
    assert [(case["status"], case["category"]) for case in new] == [("proposed", "new")] * 2
    said = capsys.readouterr().out
    assert "cases.jsonl: 2 cases proposed; they are not run until you approve them" in said


def test_the_same_proposals_are_not_taken_twice(project, capsys):
    assert run(["dataset", "extend", "cases.jsonl", "--count", "3"], {}) == 0
    assert run(["dataset", "extend", "cases.jsonl", "--count", "3"], {}) == 0
    assert len(cases()) == 7
    assert "is the same as p-" in capsys.readouterr().out


def test_out_of_a_log_without_personal_data(project):
    log = project / "log.jsonl"
    log.write_text('"Where is my order? Mail me at ann@x.example"\n', encoding="utf-8")
    command = ["dataset", "extend", "cases.jsonl", "--logs", "log.jsonl", "--out", "new.jsonl"]
    assert run(command, {}) == 0
    (case,) = cases("new.jsonl")
    assert case["input"] == "Where is my order? Mail me at <email>"
    assert case["metadata"]["provenance"]["from"] == "log.jsonl:1"
    assert cases() == [json.loads(line) for line in CASES.splitlines()]


def test_a_person_approves_with_name_and_date(project, capsys):
    run(["dataset", "extend", "cases.jsonl", "--count", "2"], {})
    name, other = [case["id"] for case in cases()[4:]]
    approve = ["dataset", "approve", "cases.jsonl", "--reviewer", "maria"]
    assert run([*approve, "--case", name], {}) == 0
    assert run([*approve, "--case", other, "--reject", "--note", "too vague"], {}) == 0
    first, second = cases()[4:]
    assert first["status"] == "approved"
    assert first["metadata"]["review"]["by"] == "maria"
    assert len(first["metadata"]["review"]["date"]) == 10
    assert (second["status"], second["metadata"]["review"]["note"]) == ("rejected", "too vague")
    assert run(["validate"], {}) == 0
    assert "5 cases" in capsys.readouterr().out


def test_a_case_that_would_break_its_suite_is_not_approved(project, capsys):
    broken = '{"id": "p", "input": "x", "status": "proposed"}\n'
    (project / "cases.jsonl").write_text(CASES, encoding="utf-8")
    with (project / "cases.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "p", "input": "x", "expected_facts": [true], "status": "proposed"}\n')
    before = (project / "cases.jsonl").read_bytes()
    assert broken.encode() not in before
    approve = ["dataset", "approve", "cases.jsonl", "--reviewer", "maria", "--case", "p"]
    assert run(approve, {}) == 2
    assert (project / "cases.jsonl").read_bytes() == before
    assert "cases.jsonl:5: expected_facts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["stats", "lost.jsonl"], "lost.jsonl: there is no such file"),
        (["approve", "cases.jsonl", "--case", "c9", "--reviewer", "m"], "there is no case 'c9'"),
        (["approve", "cases.jsonl", "--case", "c1", "--reviewer", " "], "--reviewer: give the"),
        (["extend", "cases.jsonl", "--out", "new.csv"], "new.csv: only JSON Lines"),
        (["extend", "cases.jsonl", "--logs", "empty.jsonl"], "empty.jsonl: contains no question"),
        (["extend", "cases.jsonl", "--config", "none.yml"], "none.yml: file not found"),
        (["extend", "cases.jsonl", "--config", "mute.yml"], "gate.yml has none; see docs/judge.md"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_2(project, capsys, command, said):
    (project / "empty.jsonl").write_text("", encoding="utf-8")
    mute = CONFIG.replace('judge: {type: python, callable: "./judge.py:propose"}\n', "")
    (project / "mute.yml").write_text(mute.replace(", {judge: {rubric: quality}}", ""))
    assert run(["dataset", *command], {}) == 2
    assert said in capsys.readouterr().err


def test_a_judge_that_writes_prose_is_6_and_the_file_stays(project, capsys):
    (project / "judge.py").write_text("def propose(case):\n    return 'Sure!'\n", encoding="utf-8")
    assert run(["dataset", "extend", "cases.jsonl"], {}) == 6
    assert (project / "cases.jsonl").read_text(encoding="utf-8") == CASES
    assert "the model proposed nothing" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_figures(project, capsys, form):
    assert run(["dataset", "stats", "cases.jsonl", "--format", form], {}) == 0
    said = capsys.readouterr().out
    assert (json.loads(said)["cases"] == 4) if form == "json" else ("4 cases" in said)


RETRIEVER = """
def search(question):
    if "33" in question: raise ValueError("index is gone")
    return [{"id": f"d{n}"} for n in range(9)] + [7]
"""


def with_retriever(project):
    (project / "search.py").write_text(RETRIEVER, encoding="utf-8")
    more = 'retriever: {type: python, callable: "./search.py:search"}\n'
    (project / "gate.yml").write_text(CONFIG + more, encoding="utf-8")


def test_relevant_documents_are_proposed_and_a_person_says_which_are(project, capsys):
    with_retriever(project)
    assert run(["dataset", "extend", "cases.jsonl", "--count", "3"], {}) == 0
    first, second, third = cases()[4:]
    assert first["relevant_doc_ids"] == [f"d{n}" for n in range(5)]
    by = {"by": "python ./search.py:search", "read_by": None}
    assert first["metadata"]["relevant_doc_ids"] == by
    assert "relevant_doc_ids" not in third
    said = capsys.readouterr().out
    assert "  relevant, says python ./search.py:search: d0, d1, d2, d3, d4" in said
    assert "left out: relevant documents: the retriever failed:" in said
    assert "index is gone" in said
    approve = ["dataset", "approve", "cases.jsonl", "--reviewer", "maria", "--case", second["id"]]
    (project / "gate.yml").write_text("version: 1\nagent: {type: sample}\n", encoding="utf-8")
    assert run([*approve, "--relevant", "d8", "--relevant", "d1"], {}) == 0
    kept = cases()[5]
    assert (kept["status"], kept["relevant_doc_ids"]) == ("approved", ["d8", "d1"])
    assert kept["metadata"]["relevant_doc_ids"]["read_by"] == "maria"
    assert run([*approve, "--case", first["id"], "--relevant", "d8"], {}) == 2
    assert "--relevant: works for one case" in capsys.readouterr().err


SILENT = (
    {"id": "c1", "input": "Question 1?", "expected_facts": ["x"]},
    {"id": "c2", "question": "Question 2?", "expected_facts": ["x"], "relevant_doc_ids": None},
    {"id": "c3", "input": "Question 3?", "expected_facts": ["x"], "relevant_doc_ids": []},
    {"id": "c4", "input": "Question 4?", "expected_facts": ["x"], "relevance_scores": {"d": 1}},
    {"id": "c5", "input": "Question 5?", "expected_facts": ["x"], "status": "rejected"},
)


@pytest.fixture
def silent(project):
    with_retriever(project)
    text = "".join(json.dumps(case) + "\n" for case in SILENT)
    (project / "cases.jsonl").write_text(text, encoding="utf-8")
    return project


def test_documents_are_proposed_for_cases_that_say_nothing_and_these_run_on_as_they_are(
    silent, capsys
):
    (silent / "judge.py").unlink()  # no model is asked
    assert run(["dataset", "extend", "cases.jsonl", "--existing"], {}) == 0
    found = {case["id"]: case for case in cases()}
    ids = [f"d{n}" for n in range(5)]
    by = "python ./search.py:search"
    proposal = {"status": "proposed", "ids": ids, "by": by, "read_by": None}
    for name, before in (("c1", SILENT[0]), ("c2", SILENT[1])):
        assert found[name] == {**before, "metadata": {"relevant_doc_ids": proposal}}
    assert [found[name] for name in ("c3", "c4", "c5")] == list(SILENT[2:])
    said = capsys.readouterr().out
    assert "c1: relevant, says python ./search.py:search: d0, d1, d2, d3, d4" in said
    assert "documents proposed for 2 of 2 cases without relevant documents" in said
    assert run(["dataset", "extend", "cases.jsonl", "--existing"], {}) == 0
    assert "for 0 of 0 cases" in capsys.readouterr().out


def test_a_person_takes_them_names_others_or_rejects_them(silent, capsys):
    run(["dataset", "extend", "cases.jsonl", "--existing"], {})
    before = (silent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    approve = ["dataset", "approve", "cases.jsonl", "--reviewer", "maria", "--case"]
    assert run([*approve, "c1", "--relevant", "d8"], {}) == 0
    assert run([*approve, "c2", "--reject"], {}) == 0
    first, second, *_ = cases()
    assert first["relevant_doc_ids"] == ["d8"]
    assert (first["status"], first["metadata"]["review"]["by"]) == ("approved", "maria")
    about = {"by": "python ./search.py:search", "read_by": "maria"}
    assert first["metadata"]["relevant_doc_ids"] == about
    assert second.get("status") is None  # the case itself was not rejected
    assert second["relevant_doc_ids"] is None
    assert second["metadata"]["relevant_doc_ids"]["status"] == "rejected"
    assert (silent / "cases.jsonl").read_text(encoding="utf-8").splitlines()[2:] == before[2:]
    assert "relevant documents of c2 rejected by maria" in capsys.readouterr().out
    assert run(["dataset", "extend", "cases.jsonl", "--existing"], {}) == 0
    assert "for 0 of 0 cases" in capsys.readouterr().out


def test_at_most_so_many_and_a_retriever_that_fails_is_told(silent, capsys):
    more = "".join(
        json.dumps({"id": f"e{n}", "input": f"No {n}{n}?", "expected_facts": ["x"]}) + "\n"
        for n in range(2, 6)
    )
    (silent / "cases.jsonl").write_text(more, encoding="utf-8")
    assert run(["dataset", "extend", "cases.jsonl", "--existing", "--count", "1"], {}) == 0
    assert "for 1 of 4 cases" in capsys.readouterr().out
    assert run(["dataset", "extend", "cases.jsonl", "--existing"], {}) == 0
    said = capsys.readouterr().out
    assert "the retriever failed" in said
    assert "for 0 of 3 cases" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--logs", "cases.jsonl"], "leave out --logs and --out"),
        (["--out", "new.jsonl"], "leave out --logs and --out"),
        ([], "--existing asks the `retriever` in gate.yml"),
    ],
)
def test_existing_cases_need_a_retriever_and_are_changed_where_they_are(
    project, capsys, more, said
):
    assert run(["dataset", "extend", "cases.jsonl", "--existing", *more], {}) == 2
    assert said in capsys.readouterr().err
    assert (project / "cases.jsonl").read_text(encoding="utf-8") == CASES


@pytest.mark.parametrize(
    ("told", "ids"),
    [
        ({"retrieved_ids": ["k1", "k2", "k1"]}, ["k1", "k2"]),
        ({"retrieved": [{"id": "k1", "score": 1}, {"text": "no id"}, 5]}, ["k1", "5"]),
        ({"retrieved": "k1"}, None),
        ({"retrieved": [True, "", "x" * 201, ["k"]]}, None),
    ],
)
def test_documents_that_a_run_retrieved_come_with_its_questions(project, told, ids):
    line = json.dumps({"question": "Where do I find the wire count?", "output": "There", **told})
    (project / "details.jsonl").write_text(line + "\n", encoding="utf-8")
    assert run(["dataset", "extend", "cases.jsonl", "--logs", "details.jsonl"], {}) == 0
    assert cases()[-1].get("relevant_doc_ids") == ids


# Cases that no run would take: the commands on datasets read them all the same.
ODD = (
    '{"id": "a", "input": "x", "tags": 5, "category": {"of": 1}, "metadata": [1],'
    ' "relevance_scores": [1], "expected_facts": 7, "context": 1}\n'
)


def test_figures_of_cases_that_are_written_wrongly(project, capsys):
    (project / "cases.jsonl").write_text(ODD + CASES, encoding="utf-8")
    assert run(["dataset", "stats", "cases.jsonl", "--format", "json"], {}) == 0
    statistics = json.loads(capsys.readouterr().out)
    assert (statistics["cases"], statistics["tags"]) == (5, {})
    assert statistics["categories"] == {"(none)": 4, "{'of': 1}": 1}


def test_a_case_whose_metadata_are_no_mapping_is_not_approved(project, capsys):
    (project / "cases.jsonl").write_text(CASES + ODD, encoding="utf-8")
    approve = ["dataset", "approve", "cases.jsonl", "--reviewer", "maria", "--case", "a"]
    assert run(approve, {}) == 2
    assert "case 'a': metadata must be a mapping; correct it first" in capsys.readouterr().err
    assert (project / "cases.jsonl").read_text(encoding="utf-8") == CASES + ODD
