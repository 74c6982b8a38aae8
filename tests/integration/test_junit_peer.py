"""junit.xml against the schema of Jenkins, and as a reader of JUnit files has it.

GATE_PEERS names a folder with an environment `junit`: xmlschema, junitparser and the schema.
"""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gate.report.formats.junit import JUnit
from tests.support.golden_runs import RUNS
from tests.support.reports import hostile, hostile_rows, passing, regression, row

PLACE = Path(os.environ.get("GATE_PEERS", "")) / "junit"
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(
        not (os.environ.get("GATE_PEERS") and (PLACE / "junit-10.xsd").is_file()),
        reason="GATE_PEERS names no folder with the environment junit",
    ),
]
READ = """
import json, sys
from pathlib import Path

import junitparser, xmlschema

schema = xmlschema.XMLSchema(sys.argv[1])
for name in sys.argv[2:]:
    read = junitparser.JUnitXml.fromfile(name)
    print(json.dumps({
        "name": Path(name).stem,
        "wrong": [str(error.reason) for error in schema.iter_errors(name)],
        "cases": sum(len(list(suite)) for suite in read),
        "bad": [case.name for suite in read for case in suite if case.is_failure or case.is_error],
        "failures": read.failures,
        "errors": read.errors,
    }))
"""


def made():
    known = [row("bad", passed=False), row("good")]
    yield "pass", passing(), known
    yield "properties", replace(passing(), known_failures="properties"), known
    yield "failures", replace(passing(), known_failures="failures"), known
    newly = regression().cases.newly_failing[0].case_id
    yield "regression", regression(), [row(newly, passed=False), *known]
    yield "hostile", hostile(), list(hostile_rows())
    for name, run in RUNS.items():
        told = run()
        yield f"golden_{name}", told.report, list(told.rows())


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("junit")
    files = []
    for name, report, rows in made():
        files.append(folder / f"{name}.xml")
        files[-1].write_text(JUnit().render(report, lambda rows=rows: iter(rows)), "utf-8")
    command = [PLACE / "bin" / "python", "-c", READ, PLACE / "junit-10.xsd", *files]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2_000:]
    read = map(json.loads, done.stdout.splitlines())
    return {one["name"]: one for one in read}


def test_each_file_fits_the_schema(found):
    """But where it is asked for: the schema knows properties of suites only, Jenkins reads more."""
    wrong = {name: one["wrong"] for name, one in found.items() if one["wrong"]}
    assert set(wrong) <= {"properties"}, wrong


def test_a_gate_that_passes_is_green_unless_failures_are_asked_for(found):
    assert (found["pass"]["bad"], found["pass"]["cases"]) == ([], 2)
    assert found["properties"]["bad"] == []
    assert found["failures"]["bad"] == ["bad"]
    assert found["regression"]["bad"] == [regression().cases.newly_failing[0].case_id]
    assert found["golden_pass"]["bad"] == []
    for one in found.values():
        assert one["failures"] + one["errors"] == len(one["bad"]), one["name"]
