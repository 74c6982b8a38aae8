"""Exports that somebody made to be wrong: refused with a sentence, or every trial is a row; and the
same spans in another order are the same trials.
"""

import json
import random
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.files.json_schema import mismatches
from gate.plugins import IMPORTERS
from gate.store.trial_row_schema import schema
from gate.store.trial_rows import row_of
from tests.support.any_json import HOSTILE_JSON
from tests.support.otlp_spans import ASKS, CHAT, RAN, TEXT, export, says, span

KEYS = (
    *("traceId", "spanId", "parentSpanId", "startTimeUnixNano", "endTimeUnixNano"),
    *("attributes", "events", "status", "resource"),
)
RAW_ATTRIBUTES = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(
                [*CHAT, *RAN, "gen_ai.output.messages", "gen_ai.input.messages", "gate.case_id"]
            ),
            "value": HOSTILE_JSON
            | st.fixed_dictionaries({"stringValue": HOSTILE_JSON})
            | st.fixed_dictionaries(
                {"arrayValue": st.fixed_dictionaries({"values": HOSTILE_JSON})}
            ),
        }
    ),
    max_size=3,
)


def read(*lines):
    """Every trial, or None where they are refused."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "spans.jsonl"
        path.write_text("\n".join(json.dumps(line) for line in lines))
        try:
            return list(IMPORTERS.get_class("otel")().read(path).trials())
        except UsageError:
            return None


@settings(max_examples=50)
@given(
    changed=st.dictionaries(st.sampled_from(KEYS), HOSTILE_JSON, max_size=2),
    more=RAW_ATTRIBUTES,
    beside=HOSTILE_JSON,
)
def test_an_export_is_refused_in_words_or_every_trial_is_a_row(changed, more, beside):
    found = {**CHAT, "gen_ai.output.messages": says(TEXT)}
    spoilt = span("a", found, trace="5")
    spoilt = {**spoilt, "attributes": [*spoilt["attributes"], *more], **changed}
    whole = export(spoilt, span("b", RAN, trace="5", start=2))
    for trial in read(whole, {"resourceSpans": [{"resource": beside, "spans": []}]}) or ():
        row = row_of(trial, cost_usd=None, on_agent_error={}, specs={})
        assert not list(mismatches(schema(), row))
        json.dumps(row, ensure_ascii=False).encode()


@settings(max_examples=50)
@given(content=st.binary(max_size=120) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_refused_in_words(content):
    with tempfile.TemporaryDirectory() as name:
        for file in ("spans.jsonl", "spans.json.gz"):
            path = Path(name) / file
            path.write_bytes(content)
            for tool in ("otel", "messages"):
                with suppress(UsageError):
                    assert list(IMPORTERS.get_class(tool)().read(path).trials())


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 12), max_size=4))
def test_the_order_of_spans_and_lines_changes_nothing(seed, cuts):
    spans = [
        one
        for n in range(1, 4)
        for one in (
            span("a", {**CHAT, "gen_ai.output.messages": says(ASKS)}, trace=f"{n}", start=10 * n),
            span("b", RAN, trace=f"{n}", start=10 * n + 1),
            span(
                "c", {**CHAT, "gen_ai.output.messages": says(TEXT)}, trace=f"{n}", start=10 * n + 2
            ),
            span("x", {"http.method": "GET"}, trace=f"9{n}"),
        )
    ]
    whole = read(export(*spans))
    random.Random(seed).shuffle(spans)
    places = sorted({0, *cuts, len(spans)})
    parts = [spans[a:b] for a, b in pairwise(places)]
    assert read(*(export(*part) for part in parts)) == whole
