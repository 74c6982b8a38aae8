"""Files with a JSON object a line: plain, packed, or Parquet."""

import gzip
import json
import sys

import pytest

from gate.errors import UsageError
from gate.files.record_lines import MOST_BYTES, check_records, read_lines
from gate.files.zstd import tell_no_zstd

TEXT = b'{"a": 1}\n\n{"a": 2}\r\n{"a": 3}'
LINES = [(1, b'{"a": 1}\n'), (3, b'{"a": 2}\r\n'), (4, b'{"a": 3}')]


def test_lines_have_their_numbers_and_empty_ones_are_left_out(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    assert list(read_lines(path, "a")) == LINES


def test_gzip_is_known_by_its_beginning(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(gzip.compress(TEXT[:10]) + gzip.compress(TEXT[10:]))
    assert list(read_lines(path, "a")) == LINES


def test_zstd_is_known_by_its_beginning(tmp_path):
    newer = sys.version_info >= (3, 14)
    zstd = pytest.importorskip("compression.zstd" if newer else "backports.zstd")
    path = tmp_path / "a.jsonl"
    path.write_bytes(zstd.compress(TEXT[:10]) + zstd.compress(TEXT[10:]))
    assert list(read_lines(path, "a")) == LINES
    path.write_bytes(zstd.compress(TEXT)[:-3])
    with pytest.raises(UsageError, match="a: cannot be read after line"):
        list(read_lines(path, "a"))


def test_parquet_rows_are_lines(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [
        {"id": "a", "answer": "[1]", "retrieved": '["d1"]', "latency_ms": 3.5, "round": None},
        {"id": "b", "answer": None, "retrieved": "[d1", "latency_ms": None, "round": 2},
    ]
    path = tmp_path / "a.bin"
    parquet.write_table(arrow.Table.from_pylist(rows), path)
    found = [(number, json.loads(line)) for number, line in read_lines(path, "a", ("answer",))]
    assert found == [
        (1, {"id": "a", "answer": "[1]", "retrieved": ["d1"], "latency_ms": 3.5}),
        (2, {"id": "b", "retrieved": "[d1", "round": 2}),
    ]
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UsageError, match="a: not readable as Parquet"):
        list(read_lines(path, "a"))


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"PAR1....")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(UsageError, match=r"a: a Parquet file.*the extra parquet"):
        check_records(tmp_path / "a", "a")
    (tmp_path / "z").write_bytes(b"\x28\xb5\x2f\xfd....")
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"z: packed with zstd.*backports.zstd.*the extra zst"):
        check_records(tmp_path / "z", "z")


def test_a_file_that_ends_too_early_gives_what_it_has(tmp_path):
    path = tmp_path / "a.gz"
    rows = b"".join(b'{"n": %d}\n' % n for n in range(20_000))
    path.write_bytes(gzip.compress(rows)[:-9])
    found = []
    with pytest.raises(UsageError, match=r"a.gz: cannot be read after line [\d,]+ "):
        found.extend(read_lines(path, "a.gz"))
    assert len(found) > 10_000


def test_a_line_without_end_is_cut(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * (MOST_BYTES + 9) + b"\n12\n")
    found = list(read_lines(tmp_path / "a", "a"))
    assert [(number, len(line)) for number, line in found] == [(1, MOST_BYTES), (2, 3)]


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="b: No such file"):
        check_records(tmp_path / "b", "b")
    with pytest.raises(UsageError, match="d: a folder, not a regular file"):
        check_records(tmp_path, "d")


def test_the_advice_for_zstd_names_this_python():
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"Python {version} cannot unpack" in tell_no_zstd("x", "")
