"""docs/failure-codes.md: every code stands there, and an answer that gets it is in tests/data."""

import re

import pytest
import yaml

from gate.analysis.failures.modes import RULES
from gate.graders import completion
from gate.graders.openagent_rules import constraints, stages
from gate.plugins import GRADERS
from gate.records import Case, Document, LoggedCall, PluginSpec, Response, ServerLogs, ToolCall
from gate.run.grade import make_graders
from tests.support.paths import DATA, ROOT

DOCS = ROOT / "docs"
TEXT = (DOCS / "failure-codes.md").read_text(encoding="utf-8")
GRADERS_TEXT = (DOCS / "graders.md").read_text(encoding="utf-8")
GIVEN = yaml.safe_load((DATA / "failure_codes.yaml").read_text(encoding="utf-8"))
CODES = (*completion.CODES, *constraints.CODES, *stages.CODES)
TOLD = ("api_error", "parse_error", "timeout", "agent_error", "not_ok")  # nobody grades them
TOOL_CODES = (
    *("output_parse", "output_not_json_object", "missing_field", "missing_tool_call"),
    *("min_sources_not_met", "output_not_json_only", "min_tool_calls_not_met", "min_diffs_not_met"),
    *("min_migration_steps_not_met", "min_picked_not_met", "expected_path_missing"),
    *("tool_evidence_incomplete", "tool_evidence_unverified", "fabricated_tool_call"),
)


def table_rows():
    """Heading of the section, names of the columns, cells: of every row of every table."""
    section, head = "", []
    for line in TEXT.splitlines():
        if line.startswith("#"):
            section, head = line.lstrip("# "), []
        elif not line.startswith("|"):
            head = []
        elif not head:
            head = [cell.strip() for cell in line.strip("|").split(" | ")]
        elif not line.startswith("|---"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\) ?\| ?", line)[1:-1]]
            yield section, dict(zip(head, cells, strict=True))


ROWS = list(table_rows())


def stem(code):
    return re.sub(r":<.*", "", code)


def failures(written, mode="strict"):
    chosen = written["grader"]
    name, options = (chosen, {}) if isinstance(chosen, str) else next(iter(chosen.items()))
    if getattr(GRADERS.get_class(name), "knows_modes", False):
        options = {"mode": mode, **options}
    spec = PluginSpec(name=name, options=options)
    ((_, grader),) = make_graders([spec], DOCS.parent).items()
    steps, retrieved = written.get("steps"), written.get("retrieved")
    logged = [LoggedCall(name=name, log="console") for name in written.get("logged", ())]
    answer = Response(
        answer=written["answer"],
        steps=None if steps is None else tuple(ToolCall(**step) for step in steps),
        retrieved=None if retrieved is None else tuple(Document(id=one) for one in retrieved),
        server_logs=ServerLogs(calls=tuple(logged)) if "logged" in written else None,
        state=written.get("state", {}),
    )
    case = Case(id="a", input="?", keys={"input": "?", **written.get("case", {})})
    assert list(getattr(grader, "case_faults", lambda keys: ())(case.keys)) == []
    return grader.grade(case, answer).failures


@pytest.mark.parametrize("example", GIVEN["examples"], ids=lambda one: one["code"])
def test_an_example_gives_its_code_in_the_modes_that_have_it(example):
    assert stem(example["code"]).partition(":")[0] in documented()
    for mode in ("strict", "upstream"):
        given = {found.partition(":")[0] for found in failures(example["given"], mode)}
        wanted = stem(example["code"]).partition(":")[0]
        assert (wanted in given) is (example["modes"] in ("both", mode))


@pytest.mark.parametrize("row", GIVEN["differences"], ids=range(len(GIVEN["differences"])))
def test_the_modes_differ_as_the_table_says(row):
    for mode in ("strict", "upstream"):
        assert list(failures(row["given"], mode)) == row[mode]


@pytest.mark.parametrize("example", GIVEN["whole"], ids=range(len(GIVEN["whole"])))
def test_an_example_written_out_gives_its_codes(example):
    assert list(failures({**example, **example["response"]})) == example["failures"]


def documented():
    return {
        stem(code).partition(":")[0]
        for _, row in ROWS
        for code in re.findall(r"`([^`]+)`", row.get("code", ""))
    }


@pytest.mark.parametrize("code", [*CODES, *TOOL_CODES, *TOLD])
def test_every_code_has_a_row(code):
    assert code in documented()


def test_every_code_that_a_grader_names_in_its_docs_has_a_row():
    lines = re.findall(r"^Codes[:,] (.*?)(?:\n\n|\Z)", GRADERS_TEXT, re.DOTALL | re.MULTILINE)
    told = (line.partition("where the rule is")[0] for line in lines)
    named = {code for line in told for code in re.findall(r"`([a-z_]+)(?::[^`]*)?`", line)}
    assert "hard_to_read" in named
    assert named - documented() == set()


@pytest.mark.parametrize("code", [*CODES, *TOOL_CODES])
def test_every_code_of_an_openagent_suite_tells_a_failure_mode(code):
    assert any(code in rule.codes for rule in RULES)
