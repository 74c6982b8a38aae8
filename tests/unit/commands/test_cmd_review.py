"""`gate review sample` and `import` through the parser: files out, labels in, and what is wrong."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gate.analysis.labels import read_labels
from gate.cli import run as cli
from gate.commands.label_review import manifest
from gate.files.rows import DatasetSource
from tests.support.judged_session import JUDGE, METRICS, filled, judged

ANSWERS = {f"c{n}": f"answer {n}" for n in range(6)}


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a gate.yml."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sample(session: Path, *options: str) -> int:
    return cli(["review", "sample", str(session), *options], {})


def back(*arguments: str) -> int:
    return cli(["review", "import", *arguments], {})


def drawn(period: str = "2026-W47") -> manifest.Manifest:
    return manifest.read(Path("reviews", f"{period}.json"))


def saved(data: Any, name: str = "ada.json") -> str:
    Path(name).write_text(json.dumps(data), encoding="utf-8")
    return name


def labels() -> list[dict[str, Any]]:
    file = Path("reviews/labels.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.fixture
def form(tmp_path: Path) -> dict[str, Any]:
    """Filled in for a sample of all six answers."""
    assert sample(judged(tmp_path / "out", ANSWERS)) == 0
    return filled(drawn())


# ------------------------------------------------------------------------------------------ sample


def test_a_sample_is_three_files_of_the_week_of_the_session(tmp_path, capsys):
    assert sample(judged(tmp_path, ANSWERS), "--size", "4") == 0
    names = sorted(path.name for path in Path("reviews").iterdir())
    assert names == ["2026-W47.csv", "2026-W47.html", "2026-W47.json"]
    assert "4 of 6 cases of suite 'analytics'\nNext: " in capsys.readouterr().out


def test_the_manifest_says_what_the_labels_need(tmp_path):
    sample(judged(tmp_path, ANSWERS), "--size", "4")
    found = drawn()
    assert {one.judge for one in found.criteria} == {JUDGE}
    assert [one.metric for one in found.criteria] == list(METRICS)
    assert {(one.low, one.high) for one in found.criteria} == {(1, 5)}
    assert {one.weight for one in found.cases} == {1.5}
    assert found.cases[0].judge == dict.fromkeys(METRICS, 3.0)
    assert found.commit == f"{1:040x}"


def test_the_same_command_gives_the_same_bytes_also_after_later_periods(tmp_path):
    session = judged(tmp_path, ANSWERS)

    def files():
        return {path.name: path.read_bytes() for path in Path("reviews").glob("2026-W47.*")}

    sample(session, "--size", "4")
    first = files()
    sample(session, "--size", "4", "--period", "2026-W48")
    for path in Path("reviews").glob("2026-W47.[hc]*"):
        path.unlink()
    sample(session, "--size", "4")
    assert files() == first


def test_the_next_period_shows_the_others_first(tmp_path):
    session = judged(tmp_path, ANSWERS)
    sample(session, "--size", "4")
    sample(session, "--size", "2", "--period", "next")
    shown = [one.case_id for one in (*drawn().cases, *drawn("next").cases)]
    assert sorted(shown) == sorted(ANSWERS)


def test_neither_form_nor_sheet_tells_the_judge_s_values_nor_the_branch(tmp_path):
    session = judged(tmp_path, ANSWERS, number=7)
    sample(session)
    for name in ("2026-W47.html", "2026-W47.csv"):
        text = Path("reviews", name).read_text("utf-8")
        assert f"{7:040x}" not in text
        assert drawn().session_id not in text
        assert JUDGE not in text
        assert "stratum" not in text


def test_cases_without_an_answer_are_counted_and_not_shown(tmp_path, capsys):
    sample(judged(tmp_path, {"a": "yes", "b": None, "c": "  "}))
    assert [one.case_id for one in drawn().cases] == ["a"]
    assert drawn().left_out == {"no answer": 2}
    assert "left out: 2 with no answer" in capsys.readouterr().out


def test_one_round_of_a_case_is_shown_not_always_the_same_one(tmp_path):
    sample(judged(tmp_path, {f"c{n}": "x" for n in range(30)}, rounds=3), "--size", "30")
    assert {one.round for one in drawn().cases} == {1, 2, 3}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--suite", "analitics"), "did you mean 'analytics'"),
        (("--period", "../x"), "letters, digits"),
        (("--config", "no.yml"), "file not found"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(tmp_path, capsys, options, message):
    assert sample(judged(tmp_path, ANSWERS), *options) == 2
    assert message in capsys.readouterr().err
    assert not Path("reviews").exists()


def test_a_period_is_never_drawn_over(tmp_path, capsys):
    session = judged(tmp_path, ANSWERS)
    sample(session, "--size", "4")
    assert sample(session, "--size", "5") == 2
    assert "choose another period with --period, e.g. 2026-W47-2" in capsys.readouterr().err
    assert len(drawn().cases) == 4


def test_a_manifest_that_was_edited_by_hand_is_named(tmp_path, capsys):
    session = judged(tmp_path, ANSWERS)
    sample(session)
    path = Path("reviews/2026-W47.json")
    path.write_text(path.read_text("utf-8").replace('"round": 1', '"round": "one"'), "utf-8")
    assert sample(session, "--period", "next") == 2
    assert "2026-W47.json: cases.0.round: " in capsys.readouterr().err


def test_a_session_of_strangers_is_checked(tmp_path, capsys):
    session = judged(tmp_path, ANSWERS)
    rows = (session / "details.jsonl").read_text("utf-8").replace('"round": 1', '"round": "x"')
    (session / "details.jsonl").write_text(rows, encoding="utf-8")
    assert sample(session) == 2
    assert "trial 1: round" in capsys.readouterr().err


def test_the_reference_of_gate_yml_s_dataset_is_shown(tmp_path):
    dataset = '{"id": "a", "input": "How many?", "expected_answer": "forty-two"}\n'
    Path("cases.jsonl").write_text(dataset, encoding="utf-8")
    suite = "{name: analytics, dataset: cases.jsonl, graders: [exact_match], rounds: 1}"
    said = json.dumps([sys.executable, "-c", "print('7')"])
    agent = f"agent: {{type: command, command: {said}}}"
    Path("gate.yml").write_text(f"version: 1\n{agent}\nsuites: [{suite}]\n", encoding="utf-8")
    assert cli(["run", "--baseline", "none", "--quiet"], {}) in (0, 1)
    assert sample(next(Path("results").glob("session-*"))) == 0
    page = next(Path("reviews").glob("*.html")).read_text("utf-8")
    assert "forty-two" in page
    assert "How many?" in page


# ------------------------------------------------------------------------------------------ import


def test_a_form_becomes_labels_beside_the_judge_s_values(form, capsys):
    assert back(saved(form)) == 0
    assert "18 labels added; 18 labels in all" in capsys.readouterr().out
    one = labels()[0]
    shown = {case.case_id: case for case in drawn().cases}[one["case_id"]]
    assert (one["human"], one["judge"], one["judge_digest"]) == (4.0, 3.0, JUDGE)
    assert (one["weight"], one["stratum"]) == (shown.weight, shown.stratum)
    assert (one["answer_digest"], one["round"]) == (shown.answer_digest, shown.round)
    assert (one["reviewer"], one["period"]) == ("Ada", "2026-W47")
    assert one["labelled_at"] == "2026-11-20T10:00:00.000Z"


def test_the_labels_are_of_the_form_that_the_gate_reads(form):
    back(saved(form))
    path = Path("reviews/labels.jsonl")
    found = read_labels(DatasetSource(name=str(path), open=lambda: path.open("rb")))
    assert len(found.rows) == 18
    assert found.wrong == ()


def test_labels_are_sorted_whatever_the_order_of_the_files(form):
    ben = saved({**form, "reviewer": "Ben"}, "ben.json")
    back(saved(form), ben)
    both = labels()
    Path("reviews/labels.jsonl").unlink()
    back(ben)
    back("ada.json")
    assert labels() == both
    assert [row["case_id"] for row in both] == sorted(row["case_id"] for row in both)


def test_the_same_file_again_changes_nothing(form, capsys):
    back(saved(form))
    before = Path("reviews/labels.jsonl").read_bytes()
    assert back("ada.json") == 0
    assert Path("reviews/labels.jsonl").read_bytes() == before
    assert "0 labels added, 18 there already" in capsys.readouterr().out
    assert not list(Path("reviews").glob(".*"))


def wrong(form, **changes):
    """The form with the first case changed."""
    first, *others = form["labels"]
    return {**form, "labels": [{**first, **changes}, *others]}


@pytest.mark.parametrize(
    ("changes", "message", "added"),
    [
        ({"item": 7}, "no case 7 in the sample of 2026-W47, 1 to 6", 15),
        ({"item": True}, "no case True", 15),
        ({"item": "1"}, "no case 1 in the sample", 15),
        ({"answer_digest": "0" * 64}, "was shown with another answer", 15),
        ({"ratings": {METRICS[0]: 6, METRICS[1]: 4}}, "6 is not on the scale, 1 to 5", 16),
        ({"ratings": {METRICS[0]: "4"}}, "'4' is not a whole number from 1 to 5", 15),
        ({"ratings": {METRICS[0]: 4.5}}, "4.5 is not a whole number", 15),
        ({"ratings": {METRICS[0]: True}}, "True is not a whole number", 15),
        ({"ratings": {"charm": 4}}, "charm: no such criterion; choose from correctness.fact", 15),
        ({"ratings": [4, 4]}, "ratings: must be an object", 15),
        ({"cannot_judge": "no"}, "cannot_judge: must be true or false", 15),
    ],
)
def test_one_wrong_label_is_told_and_the_others_count(form, capsys, changes, message, added):
    assert back(saved(wrong(form, **changes))) == 0
    said = capsys.readouterr()
    assert message in said.err
    assert f"ada.json: case '{form['labels'][0]['case_id']}'" in said.err
    assert f"{added} labels added" in said.out
    assert "1 problem, not imported" in said.out
    assert len(labels()) == added


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reviewer": " "}, "reviewer: write your name"),
        ({"reviewer": 7}, "reviewer: write your name"),
        ({"period": "2026-W01"}, "no sample of '2026-W01'"),
        ({"period": "../reviews/2026-W47"}, "no sample of '../reviews/2026-W47'"),
        ({"sample": "sha256:0"}, "belongs to an older sample of 2026-W47"),
        ({"form": "else"}, "not a file that the review form saved"),
        ({"labels": {}}, "labels: must be a list"),
        ({"labels": [7]}, "labels[0]: must be an object"),
        ({"labels": []}, "contains no ratings"),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_an_error(form, capsys, changes, message):
    assert back(saved({**form, **changes})) == 2
    assert capsys.readouterr().err.count(message) == 1  # for the file, not for each of its cases
    assert not Path("reviews/labels.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "ada.json:1: not JSON"),
        (b'{"a": NaN}', "NaN is no number"),
        (b"\xff\xfe{\x00", "UTF-16"),
        (b"[" * 100_000, "not JSON"),
        (None, "not readable"),
    ],
)
def test_a_broken_file_beside_a_good_one_is_told(form, capsys, content, message):
    saved(form, "good.json")
    if content is not None:
        Path("ada.json").write_bytes(content)
    assert back("ada.json", "good.json") == 0
    assert message in capsys.readouterr().err
    assert len(labels()) == 18


def test_another_rating_by_the_same_reviewer_takes_replace(form, capsys):
    back(saved(form))
    first = form["labels"][0]
    saved(wrong(form, ratings={**first["ratings"], METRICS[0]: 2}), "again.json")
    assert back("again.json") == 0
    assert "is 2 here but 4 in the labels; not imported - use --replace" in capsys.readouterr().err
    assert {row["human"] for row in labels()} == {4.0}
    assert back("again.json", "--replace") == 0
    assert "1 replaced" in capsys.readouterr().out
    assert sorted({row["human"] for row in labels()}) == [2.0, 4.0]
    assert len(labels()) == 18


def test_two_files_that_contradict_each_other_count_neither_way(form, capsys):
    first = form["labels"][0]
    saved(wrong(form, ratings={**first["ratings"], METRICS[0]: 2}), "again.json")
    assert back(saved(form), "again.json") == 0
    assert "neither is used - keep one of the two" in capsys.readouterr().err
    assert len(labels()) == 17
    assert back("ada.json", "again.json", "--replace") == 0
    assert [row["human"] for row in labels() if row["human"] != 4.0] == [2.0]


def test_a_file_that_contradicts_itself_counts_neither_way_also_with_replace(form, capsys):
    first = form["labels"][0]
    twice = {**form, "labels": [*form["labels"], {**first, "ratings": {METRICS[0]: 1}}]}
    assert back(saved(twice), "--replace") == 0
    assert "neither is used" in capsys.readouterr().err
    assert len(labels()) == 17


def test_people_may_disagree(form):
    other = {**form, "reviewer": "Ben"}
    for label in other["labels"]:
        label["ratings"] = dict.fromkeys(label["ratings"], 1)
    ben = saved(other, "ben.json")
    back(saved(filled(drawn())), ben)
    assert {(row["reviewer"], row["human"]) for row in labels()} == {("Ada", 4.0), ("Ben", 1.0)}


def test_what_nobody_can_judge_is_no_label(form, capsys):
    assert back(saved(wrong(form, cannot_judge=True))) == 0
    assert "15 labels added, 1 answer not judged" in capsys.readouterr().out


def test_a_rating_is_taken_back_by_cannot_judge_and_replace(form, capsys):
    back(saved(form))
    saved(wrong(form, cannot_judge=True, ratings={}), "again.json")
    assert back("again.json") == 0
    assert 'marked "cannot judge" here, but was rated before' in capsys.readouterr().err
    assert len(labels()) == 18
    back("again.json", "--replace")
    assert "3 taken back" in capsys.readouterr().out
    assert len(labels()) == 15


def test_a_labels_file_with_a_wrong_row_is_not_written_over(form, capsys):
    Path("reviews/labels.jsonl").write_text('{"suite": 1}\n', encoding="utf-8")
    assert back(saved(form)) == 2
    assert "labels.jsonl:1: " in capsys.readouterr().err
    assert Path("reviews/labels.jsonl").read_text("utf-8") == '{"suite": 1}\n'


def test_without_samples_there_is_nothing_to_import_into(capsys):
    assert back("ada.json") == 2
    assert "reviews: no such folder; give the folder of the samples with --reviews" in (
        capsys.readouterr().err
    )


# --------------------------------------------------------------------------------------------- CSV


def sheet(change, **layout) -> bytes:
    """The CSV of the sample, each row changed, as a spreadsheet saves it."""
    text = Path("reviews/2026-W47.csv").read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys(), **layout)
    writer.writeheader()
    for row in rows:
        change(row)
        writer.writerow(row)
    return out.getvalue().encode()


def rate(row):
    row["reviewer"] = "Ada"
    row |= {name: "4" for name in row if name.endswith("(1 to 5)")}


@pytest.mark.parametrize(
    ("layout", "before", "four"),
    [
        ({}, b"", "4"),
        ({}, b"\xef\xbb\xbf", "4.0"),
        ({"delimiter": ";", "lineterminator": "\n"}, b"\xef\xbb\xbf", "4,0"),
        ({"delimiter": "\t", "quoting": csv.QUOTE_ALL}, b"", " 4 "),
        ({"delimiter": ";"}, b"sep=;\r\n", "4"),
    ],
    ids=["as written", "Excel", "LibreOffice in German", "tabs, all quoted", "sep="],
)
def test_the_sheet_comes_back_from_any_spreadsheet(form, layout, before, four):
    def change(row):
        rate(row)
        row |= {name: four for name in row if name.endswith("(1 to 5)")}

    Path("ada.csv").write_bytes(before + sheet(change, **layout))
    assert back("ada.csv") == 0
    assert [row["human"] for row in labels()] == [4.0] * 18


def test_a_wrong_cell_is_named_by_its_line(form, capsys):
    def change(row):
        rate(row)
        if row["item"] == "2":
            row["correctness.factual_correctness (1 to 5)"] = "good"

    Path("ada.csv").write_bytes(sheet(change))
    assert back("ada.csv") == 0
    said = capsys.readouterr()
    assert "ada.csv:3: case 'c" in said.err
    assert "'good' is not a whole number from 1 to 5" in said.err
    assert "17 labels added" in said.out


def test_rows_left_blank_say_nothing(form):
    Path("ada.csv").write_bytes(sheet(lambda row: rate(row) if row["item"] == "1" else None))
    assert back("ada.csv") == 0
    assert len(labels()) == 3


def rated_but(**cells):
    def change(row):
        rate(row)
        row |= cells

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (rated_but(reviewer=""), "ada.csv:2: reviewer: write"),
        (rated_but(cannot_judge="perhaps"), "'perhaps' is neither 'x' nor empty"),
        (rated_but(item="9"), "no case 9 in the sample"),
        (rated_but(sample=""), "an older sample of 2026-W47"),
        (lambda row: None, "contains no ratings"),
    ],
)
def test_a_sheet_of_which_nothing_counts_is_an_error(form, capsys, change, message):
    Path("ada.csv").write_bytes(sheet(change))
    assert back("ada.csv") == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\r\n1,2\r\n", "ada.csv:1: no column 'item'"),
        (b"", "no column 'item'"),
        ("item,reviewer\r\n1,J\xf6rg\r\n".encode("latin-1"), "save the file as UTF-8"),
    ],
)
def test_another_table_is_refused(form, capsys, content, message):
    Path("ada.csv").write_bytes(content)
    assert back("ada.csv") == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "  =", "＝", "'="])
def test_an_answer_never_becomes_a_formula(tmp_path, start):
    session = judged(tmp_path, {"=case()": f'{start}HYPERLINK("http://x","y")'})
    sample(session)
    text = Path("reviews/2026-W47.csv").read_bytes().decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["answer"].startswith("'")
    assert row["case_id"] == "'=case()"


def test_a_note_that_starts_with_a_sign_comes_back_as_it_is(form):
    def change(row):
        rate(row)
        row["note"] = "-5 would be wrong"

    Path("ada.csv").write_bytes(sheet(change))
    back("ada.csv")
    assert {row["note"] for row in labels()} == {"-5 would be wrong"}
