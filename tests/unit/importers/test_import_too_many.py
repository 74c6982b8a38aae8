"""Sources with more results than one import takes: they are refused while they are read, before
all of them are in memory.
"""

import os

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.problems import Findings
from gate.files.tables import table_rows
from gate.importers.formats.scored_rows.reading import check_rows
from gate.importers.formats.scored_rows.shape import RowOptions
from gate.importers.formats.trec import qrels_of, run_of
from gate.importers.junit import overview
from gate.importers.langfuse import SHAPE
from gate.plugins import IMPORTERS


def junit(folder, most):
    cases = '<testcase name="a"/><testcase name="b"><skipped/></testcase><testcase name="c"/>'
    for name in ("1.xml", "2.xml"):
        (folder / name).write_text(f"<testsuite>{cases}</testsuite>")
    return overview([folder / "1.xml", folder / "2.xml"], most)


def rows(folder, most):
    (folder / "a.csv").write_text("id,input\n1,a\n2,b\n3,c\n4,d\n")
    asked = RowOptions().make_plan(SHAPE)
    return check_rows(lambda: table_rows(folder / "a.csv"), asked, "a.csv", most)


def inner_spans(folder, most):
    spans = "".join(f"{n},q,t{n},x\n" for n in range(4))
    (folder / "a.csv").write_text(f"id,input,traceId,parentObservationId\n{spans}0,q,t,\n")
    asked = RowOptions().make_plan(SHAPE)
    return check_rows(lambda: table_rows(folder / "a.csv"), asked, "a.csv", most)


def spans_of_one_trace(folder, most):
    spans = "".join(f"{n},q{n},t,x\n" for n in range(4))
    (folder / "a.csv").write_text(f"id,input,traceId,parentObservationId\n{spans}")
    asked = RowOptions().make_plan(SHAPE)
    return check_rows(lambda: table_rows(folder / "a.csv"), asked, "a.csv", most)


def judgements(folder, most):
    (folder / "qrels").write_text("".join(f"q{n} 0 d 1\n" for n in range(4)))
    return qrels_of(folder / "qrels", Findings(), most)


def run(folder, most):
    (folder / "run").write_text("".join(f"q{n} Q0 d 1 0.5 t\n" for n in range(5)))
    return run_of(folder / "run", Findings(), most)


@pytest.mark.parametrize("read", [junit, rows, inner_spans, spans_of_one_trace, judgements, run])
def test_what_is_more_than_an_import_takes_is_refused_while_it_is_read(read, tmp_path):
    assert read(tmp_path, 4)
    with pytest.raises(UsageError, match="more than 3 results; import them in parts"):
        read(tmp_path, 3)


@pytest.mark.parametrize(
    ("name", "line", "size", "said"),
    [
        ("promptfoo", '{"success": true}\n', 512 << 20, "larger than 512 MB - split it"),
        ("messages", '{"role": "user", "content": "a"}\n', 256 << 20, "more than 256 MB - shorten"),
    ],
)
def test_what_is_read_as_a_whole_is_not_read_where_it_is_too_large(
    tmp_path, name, line, size, said
):
    file = tmp_path / "a.jsonl"
    file.write_text(line)
    os.truncate(file, size + 1)  # the rest takes no room on the disk
    with pytest.raises(InvalidInput, match=said):
        IMPORTERS.get_class(name)().read(file)
