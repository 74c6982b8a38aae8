"""The bundled suites of the OpenAgent benchmark: their numbers, patterns, answers and cards."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gate.files import bundled
from gate.files.rows import DatasetSource
from gate.plugins import Grader
from gate.records import Case, Response, Score
from gate.run.grade import make_graders
from gate.suites.cases.dataset import cases, check
from gate.suites.config.load import load_bundled_suites
from tests.support.paths import DATA

TEXT, WORK = ("baseperf", "dialogue"), ("hardchat", "tool")
SUITES = {suite.name: suite for suite in load_bundled_suites()}
NUMBERS = {
    "baseperf": dict.fromkeys(("format", "factual", "instruction", "readability", "completion"), 8),
    "dialogue": dict.fromkeys(("format", "factual", "instruction", "readability"), 8),
    "hardchat": dict.fromkeys(
        ("web_search", "web_fetch", "shell", "file_ops", "browser", "mixed"), 1
    ),
    "tool": dict.fromkeys(("WebSearch", "WebFetch", "Shell", "File", "Browser", "Mixed"), 2),
}
STAGES = ("collect", "normalize", "summarize")
FACTS, OTHERS = ("expected_answer_regex", "fact_patterns"), ("must_patterns", "forbid_patterns")


def graders(name: str, mode: str = "strict") -> dict[str, Grader]:
    """Those of the bundled suite in a mode; the judge, who is optional, is not asked."""
    specs = [spec for spec in SUITES[name].graders if spec.name != "judge"]
    told = [replace(spec, options={**spec.options, "mode": mode}) for spec in specs]
    return make_graders(told, Path())


def source(path: Path) -> DatasetSource:
    return DatasetSource(name=path.name, open=partial(path.open, "rb"))


def loaded(name: str) -> list[Case]:
    return list(cases(source(Path(SUITES[name].dataset)), graders(name)))


def card(name: str) -> str:
    return (bundled.folder() / name / "README.md").read_text("utf-8")


def table(name: str, heading: str) -> list[list[str]]:
    """The rows of the table below a heading of a card."""
    section = card(name).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().replace("`", "") for cell in row] for row in rows[2:]]


CASES = {name: loaded(name) for name in NUMBERS}
ALL = [case for name in NUMBERS for case in CASES[name]]
GRADERS = {name: graders(name) for name in NUMBERS}
UPSTREAM = graders("dialogue", "upstream")["constraints"]
LINES = DATA / "openagent_answers.jsonl"
ANSWERS = {one["id"]: one for one in map(json.loads, LINES.read_text("utf-8").splitlines())}
of_text = pytest.mark.parametrize(
    "case", [case for name in TEXT for case in CASES[name]], ids=lambda case: case.id
)
of_stages = pytest.mark.parametrize("case", CASES["hardchat"], ids=lambda case: case.id)
of_tools = pytest.mark.parametrize("case", CASES["tool"], ids=lambda case: case.id)


# --------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("name", NUMBERS)
def test_a_suite_has_so_many_tasks_of_each_category(name: str) -> None:
    assert Counter(case.category for case in CASES[name]) == NUMBERS[name]
    assert {row[0]: int(row[1]) for row in table(name, "Categories")} == NUMBERS[name]
    assert f"\n| Cases | {len(CASES[name])} |\n" in card(name)


def test_no_id_and_no_prompt_comes_twice() -> None:
    assert len({case.id for case in ALL}) == len({case.input for case in ALL}) == len(ALL) == 90


@pytest.mark.parametrize("name", NUMBERS)
def test_every_key_is_read_by_somebody(name: str) -> None:
    found = check(source(Path(SUITES[name].dataset)), GRADERS[name])
    assert found.warnings == ()
    assert found.cases == len(CASES[name])


@pytest.mark.parametrize("name", TEXT)
def test_the_card_counts_what_is_checked(name: str) -> None:
    def held(check: str) -> int:
        key, _, value = check.partition(": ")
        keys = [one.keys for one in CASES[name]]
        if value:
            return sum(one[key] == value for one in keys)
        return sum(any(word in one for word in check.split(", ")) for one in keys)

    told = {row[0]: int(row[1]) for row in table(name, "Checks")}
    assert told
    assert told == {check: held(check) for check in told}


def test_the_card_counts_the_tools() -> None:
    required = (tool for case in CASES["tool"] for tool in case.keys["required_tools"])
    assert {row[0]: int(row[1]) for row in table("tool", "Tools")} == Counter(required)


# -------------------------------------------------------------------------------------- patterns


def patterns(case: Case, keys: tuple[str, ...]) -> list[str]:
    written = (case.keys.get(key) or [] for key in keys)
    return [one for some in written for one in ([some] if isinstance(some, str) else some)]


def longer(text: str, found: re.Match[str]) -> Iterator[str]:
    """The text with each word or number of what was found made longer, by a sign in front of it
    or behind it.
    """
    for word in re.finditer(r"\w+", found.group()):
        sign = "7" if word.group().isdigit() else "x"
        start, end = (found.start() + place for place in word.span())
        yield f"{text[:start]}{sign}{text[start:]}"
        yield f"{text[:end]}{sign}{text[end:]}"


@of_text
def test_a_fact_is_a_whole_word_or_number(case: Case) -> None:
    right = ANSWERS[case.id]["right"]
    for pattern in patterns(case, FACTS):
        found = re.search(pattern, right, re.IGNORECASE)
        assert found is not None, pattern
        for text in longer(right, found):
            assert not re.search(pattern, text, re.IGNORECASE), f"{pattern} matches {text}"


@of_text
def test_no_pattern_repeats_a_group(case: Case) -> None:
    """So none can take exponential time."""
    for pattern in patterns(case, FACTS + OTHERS):
        re.compile(pattern)
        assert not re.search(r"(?<!\\)\)[*+{]", pattern), pattern


# -------------------------------------------------------------------------------------- answers


def graded(suite: str, grader: str, case: Case, answer: str) -> Score:
    return GRADERS[suite][grader].grade(case, Response(answer=answer))


def kinds(score: Score) -> list[str]:
    """The codes, without what follows the colon."""
    return [code.partition(":")[0] for code in score.failures]


def test_every_text_task_has_its_answers() -> None:
    assert list(ANSWERS) == [case.id for name in TEXT for case in CASES[name]]


@of_text
def test_a_right_answer_meets_every_constraint_and_a_wrong_one_does_not(case: Case) -> None:
    expected = ANSWERS[case.id]
    right, wrong = (
        graded("dialogue", "constraints", case, expected[key]) for key in ("right", "wrong")
    )
    assert right.failures == ()
    assert (right.passed, wrong.passed) == (True, False)
    assert kinds(wrong)[:1] == [expected["code"]]
    assert UPSTREAM.grade(case, Response(answer=expected["right"])).failures == ()


@of_text
def test_other_words_for_the_right_answer_pass_and_near_misses_do_not(case: Case) -> None:
    expected = ANSWERS[case.id]
    assert len(expected["also"]) >= 2
    for answer in expected["also"]:
        assert graded("dialogue", "constraints", case, answer).failures == (), answer
    assert expected["near"]
    for answer in expected["near"]:
        assert graded("dialogue", "constraints", case, answer).passed is False, answer


def test_in_baseperf_only_completion_decides() -> None:
    (case, *_) = CASES["baseperf"]
    answer = ANSWERS[case.id]["wrong"]
    assert graded("baseperf", "completion", case, answer).passed is True
    assert graded("baseperf", "completion", case, " \n").passed is False
    assert graded("baseperf", "constraints", case, answer).passed is None


# ------------------------------------------------------------------- answers of the asked form


def form(case: Case) -> Any:
    """The form of the answer, as the prompt shows it; it begins a line."""
    text = str(case.input)
    return json.JSONDecoder().raw_decode(text, text.rindex("\n{\n") + 1)[0]


def filled(shape: Any, n: int = 1, key: str = "") -> Any:
    """Something in every place of a form: texts, numbers, one entry in every list."""
    if isinstance(shape, dict):
        return {name: filled(value, n, name) for name, value in shape.items()}
    if isinstance(shape, list):
        return [filled(one, n) for one in shape] or [f"entry {n}"]
    if shape == "":
        return f"https://site{n}.example/page" if key == "url" else f"some words, the {n}th"
    return n if isinstance(shape, int) and not isinstance(shape, bool) else shape


def at(data: Any, path: str) -> Any:
    """What stands at the path; of a list on the way in its first entry."""
    for name in path.split("."):
        data = data[0][name] if isinstance(data, list) else data[name]
    return data


def put(data: Any, path: str, value: Any) -> Any:
    """A copy that has this value there, in each entry of a list above it; None: that has nothing
    there.
    """
    changed = deepcopy(data)
    place, _, name = path.rpartition(".")
    found = at(changed, place) if place else changed
    for parent in found if isinstance(found, list) else [found]:
        if value is None:
            del parent[name]
        else:
            parent[name] = value
    return changed


def many(data: Any, path: str, n: int, shape: Any) -> Any:
    (first, *_) = at(shape, path)
    return put(data, path, [filled(first, number) for number in range(1, n + 1)])


def staged(case: Case) -> Any:
    data = filled(form(case))
    for path, rule in case.keys["count_rules"].items():
        data = many(data, path, rule["min"], form(case))
    return data


@of_stages
def test_the_counts_of_a_prompt_are_those_of_its_rules_and_of_the_card(case: Case) -> None:
    asked = str(case.input).partition("HARD REQUIREMENTS:\n")[2]
    lines = [re.fullmatch(r"- ([\w.]+) (>=|==) (\d+)", line) for line in asked.splitlines()]
    rules: Mapping[str, Mapping[str, int]] = case.keys["count_rules"]
    bounds = {path.partition(".")[2]: rule for path, rule in rules.items()}  # without the stage
    for line in lines:
        assert line is not None
        least = {"min": int(line[3])}
        assert bounds.pop(line[1]) == (least if line[2] == ">=" else {**least, "max": least["min"]})
    assert bounds == {}
    (row,) = (row for row in table("hardchat", "Counts") if row[0] == case.id)
    told = {
        f"{stage}.{name}": number
        for stage, cell in zip(STAGES, row[1:], strict=True)
        for name, number in re.findall(r"([\w.]+) (=?\d+)", cell)
    }
    assert told == {
        path: f"{'=' if 'max' in rule else ''}{rule['min']}" for path, rule in rules.items()
    }


@of_stages
def test_a_stage_that_is_there_with_all_its_entries_passes(case: Case) -> None:
    assert set(case.keys["stage_requirements"]) == set(STAGES)
    assert (case.timeout_s, case.request) == (420, {"max_tokens": 12000, "temperature": 0})
    score = graded("hardchat", "stages", case, json.dumps(staged(case)))
    assert (score.passed, score.failures) == (True, ())


@of_stages
def test_an_entry_less_an_empty_stage_and_a_missing_one_fail(case: Case) -> None:
    whole = staged(case)
    for path in case.keys["count_rules"]:
        fewer = put(whole, path, at(whole, path)[1:])
        score = graded("hardchat", "stages", case, json.dumps(fewer))
        assert score.passed is False
        assert len(score.failures) == 1
        assert path.rpartition(".")[2] in score.failures[0]
    for stage in STAGES:
        gone = graded("hardchat", "stages", case, json.dumps(put(whole, stage, None)))
        assert gone.failures[0] == f"missing_stage:{stage}"
        assert not graded("hardchat", "stages", case, json.dumps(put(whole, stage, {}))).passed
    assert kinds(graded("hardchat", "stages", case, "Done.")) == ["response_not_json_object"]


# ----------------------------------------------------------------------------------------- tools

LISTS = {
    "min_sources": "evidence.sources",
    "min_tool_calls": "evidence.tool_calls",
    "min_diffs": "diffs",
    "min_migration_steps": "migration_plan",
    "min_picked": "picked",
}


def reported(case: Case) -> Any:
    shape, wanted = form(case), case.keys["output_requirements"]
    data = filled(shape)
    calls = at(data, "evidence.tool_calls")
    more = max(0, wanted["min_tool_calls"] - len(calls))
    data = put(data, "evidence.tool_calls", calls + [calls[0]] * more)
    for name, path in LISTS.items():
        if name in wanted and name != "min_tool_calls":
            data = many(data, path, wanted[name], shape)
    if "expected_path" in wanted:
        data = put(data, "path", wanted["expected_path"])
    return data


def told(case: Case, data: Any) -> list[str]:
    return list(graded("tool", "tool_evidence", case, json.dumps(data)).failures)


@of_tools
def test_a_report_that_has_just_enough_passes(case: Case) -> None:
    assert told(case, reported(case)) == []


@of_tools
def test_a_report_without_a_field_a_tool_or_a_count_fails(case: Case) -> None:
    whole, wanted = reported(case), case.keys["output_requirements"]
    for field in wanted["must_include_fields"]:
        assert f"missing_field:{field}" in told(case, put(whole, field, None))
    calls = at(whole, "evidence.tool_calls")
    for tool in wanted["must_include_tool_calls"]:
        others = [call for call in calls if call["name"] != tool]
        found = told(case, put(whole, "evidence.tool_calls", others))
        assert f"missing_tool_call:{tool}" in found
    for name, path in LISTS.items():
        if name in wanted:
            fewer = put(whole, path, at(whole, path)[: wanted[name] - 1])
            assert f"{name}_not_met:{wanted[name]}" in told(case, fewer)
    if "expected_path" in wanted:
        elsewhere = told(case, put(whole, "path", "./elsewhere.md"))
        assert elsewhere == [f"expected_path_missing:{wanted['expected_path']}"]


@of_tools
def test_a_task_asks_for_the_tools_of_its_category_and_has_a_rubric(case: Case) -> None:
    tools, rubric = case.keys["required_tools"], case.keys["rubric"]
    asked = case.keys["output_requirements"]["must_include_tool_calls"]
    assert asked == tools
    assert all(tool in str(case.input) for tool in tools)
    families = {tool.partition("_")[0] for tool in tools}
    of_category = {"WebSearch": {"web"}, "WebFetch": {"web"}, "Shell": {"shell"}, "File": {"local"}}
    assert families == of_category.get(str(case.category), families)
    assert "browser" in families or case.category != "Browser"
    assert len(families) >= 2 or case.category != "Mixed"
    assert {"correctness", "completeness", "evidence", "format"} <= set(rubric)
    assert set(rubric) <= {"correctness", "completeness", "evidence", "format", "reproducibility"}
    assert all(text.strip() for text in rubric.values())


def test_the_suite_has_every_kind_of_tool() -> None:
    assert {tool for case in CASES["tool"] for tool in case.keys["required_tools"]} >= {
        *("web_search", "web_fetch", "shell", "local_text_write"),
        *("browser_use_open", "browser_use_snapshot"),
    }


def test_the_digests_of_a_rubric_are_right() -> None:
    (case,) = (one for one in CASES["tool"] if one.id == "SH-1")
    said = case.keys["rubric"]["correctness"]
    assert hashlib.sha256(b"abc").hexdigest() in said
    assert hashlib.md5(b"abc", usedforsecurity=False).hexdigest() in said


def test_files_go_to_the_scratch_folder_alone() -> None:
    named = {path for case in ALL for path in re.findall(r"\./[\w./]+", str(case.input))}
    assert named
    assert all(path.startswith(("./scratch/", "./openagent/logs/")) for path in named)


# -------------------------------------------------------------------------- those of the upstream


@pytest.mark.parametrize("mode", ["strict", "upstream"])
@pytest.mark.parametrize(
    ("name", "like", "number"),
    [
        ("baseperf/dataset.jsonl", "baseperf", 40),
        ("dialogue/dataset.jsonl", "dialogue", 32),
        ("hardchat/tasks.jsonl", "hardchat", 6),
        ("tool/dataset.jsonl", "tool", 12),
        ("reliability/dataset.jsonl", "dialogue", 4),
        ("throughput/dataset.jsonl", "baseperf", 4),
    ],
)
def test_the_upstream_files_load(
    gate_real_data: Path, name: str, like: str, number: int, mode: str
) -> None:
    """Keys of later versions are a warning: nobody reads `repeat_count` or `concurrency`."""
    path = gate_real_data / "openagent" / "datasets" / name
    asked = graders(like, mode)
    found = check(source(path), asked)
    assert found.cases == len(list(cases(source(path), asked))) == number
    unread = {"reliability": ["repeat_count"], "throughput": ["concurrency", "requests_per"]}
    expected = unread.get(name.partition("/")[0], [])
    assert len(found.warnings) == len(expected)
    for key, warning in zip(expected, found.warnings, strict=True):
        assert f": {key}" in warning


def test_no_prompt_is_one_of_the_upstream(gate_real_data: Path) -> None:
    folder = gate_real_data / "openagent" / "datasets"
    files = [path.read_text("utf-8") for path in folder.rglob("*.jsonl")]
    theirs = {json.loads(line)["prompt"] for text in files for line in text.splitlines()}
    assert len(theirs) > 40
    assert theirs & {str(case.input) for case in ALL} == set()
