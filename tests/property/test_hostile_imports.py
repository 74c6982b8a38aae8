"""Folders that somebody made to be wrong: an import is refused with a sentence, or is whole."""

import json
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.files.json_schema import mismatches
from gate.plugins import IMPORTERS
from gate.store.trial_row_schema import schema
from gate.store.trial_rows import row_of
from tests.support.any_json import HOSTILE_JSON
from tests.support.openagent_records import META, RECORD

RECORDS = st.dictionaries(st.sampled_from(sorted(RECORD)), HOSTILE_JSON, max_size=4)
FILES = st.sampled_from(("meta.json", "summary.json", "details.jsonl"))


@settings(max_examples=60)
@given(
    records=st.lists(RECORDS, min_size=1, max_size=4),
    meta=st.dictionaries(st.sampled_from([*META, "rounds", "suites", "health"]), HOSTILE_JSON),
    summary=st.none() | st.dictionaries(st.sampled_from(["suites", "total_records"]), HOSTILE_JSON),
    cut=st.integers(0, 40),
)
def test_a_folder_is_refused_in_words_or_every_trial_of_it_is_a_row(records, meta, summary, cut):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "session-20260512-143052-1a2b3c4d"
        folder.mkdir()
        lines = [json.dumps({**RECORD, "round": n, **one}) for n, one in enumerate(records, 1)]
        text = "\n".join(lines)
        (folder / "details.jsonl").write_text(text[: len(text) - cut] if cut < 20 else text)
        (folder / "meta.json").write_text(json.dumps({**META, **meta}))
        if summary is not None:
            (folder / "summary.json").write_text(json.dumps(summary))
        try:
            found = IMPORTERS.get_class("openagent")().read(folder)
        except UsageError:
            return
        rows = [row_of(one, cost_usd=None, on_agent_error={}, specs={}) for one in found.trials()]
        assert len(rows) == len(records)
        assert not [wrong for row in rows for wrong in mismatches(schema(), row)]


@settings(max_examples=50)
@given(content=st.binary(max_size=200), file=FILES)
def test_any_bytes_in_one_of_its_files_are_refused_in_words(content, file):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "details.jsonl").write_text(json.dumps(RECORD))
        (folder / "meta.json").write_text(json.dumps(META))
        (folder / file).write_bytes(content)
        with suppress(UsageError):
            assert list(IMPORTERS.get_class("openagent")().read(folder).trials())
