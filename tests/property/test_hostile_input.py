"""Whatever stands in gate.yml or a dataset, the answer is data or a message, never a crash."""

import io
import json
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.files import yaml as yamlfile
from gate.files.rows import DatasetSource
from gate.suites.cases.dataset import cases, check
from gate.suites.config.load import load

KEYS = st.sampled_from(
    [
        *("version", "agent", "judge", "suites", "gates", "regression", "policy", "protect"),
        *("baseline", "budget", "quarantine", "pricing", "report", "type", "name", "dataset"),
        *("graders", "rounds", "facts", "retrieval", "min", "max", "target", "metrics", "sample"),
        *("QUALITY_GATES", "regression_threshold", "tolerance", "case", "until", "owner", "k"),
    ]
) | st.text(max_size=5)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["openai", "facts", "5%", "${HOME}", "2026-13-01", "a.b", "early", "off"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)
GOOD: dict[str, Any] = {
    "agent": {"type": "sample", "timeout_s": 3, "options": {"top_k": 1, "no_tool": ["run_sql"]}},
    "judge": {"type": "sample", "votes": 3},
    "pricing": {"m": {"input": 1, "output": 2}},
    "suites": [
        {
            "name": "a",
            "dataset": "d.jsonl",
            "graders": ["facts", {"retrieval": {"k": [1, 5]}}],
            "sample": {"push": 3, "release": "all"},
            "gates": {"retrieval.mrr": {"min": 0.5}},
            "rounds": 3,
        }
    ],
    "gates": {"retrieval.recall@5": {"min": 0.8, "target": 0.9, "rule": "point"}},
    "regression": {
        "alpha": 0.01,
        "tolerance": "5%",
        "max_removed": "10%",
        "metrics": {"agent.success_rate": {"tolerance": 0.02, "level": "warn"}},
    },
    "policy": {"error": "warn"},
    "baseline": {"source": "auto", "keep_rounds": 3},
    "budget": {"usd": 3},
    "quarantine": [{"case": "a", "owner": "b", "until": "2999-01-01"}],
    "report": {"dir": "x", "html": False},
}
YAML_BITS = st.lists(
    st.sampled_from(
        [
            *(
                "a",
                ": ",
                "- ",
                "\n",
                "  ",
                "{",
                "}",
                "[",
                "]",
                ",",
                "&a ",
                "*a",
                "<<",
                "!",
                "|",
                ">",
            ),
            *("'", '"', "\t", "#", "---", "...", "%", "?", "\\", "\x00", "é", "\ufeff", "0", "~"),
        ]
    ),
    max_size=30,
).map("".join)
CONTENT = st.binary(max_size=200) | YAML_BITS.map(str.encode)


def config(content: bytes) -> None:
    with suppress(UsageError):
        load(lambda path: content, "gate.yml", env={}, root=Path(), today=date(2026, 11, 21))


@given(CONTENT)
def test_any_bytes_as_yaml(content: bytes) -> None:
    with suppress(UsageError):
        json.dumps(yamlfile.parse(content, "f").data).encode()


@given(CONTENT)
def test_any_bytes_as_config(content: bytes) -> None:
    config(content)


@settings(max_examples=80)
@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_data_as_config(data: dict[str, Any]) -> None:
    config(json.dumps(data).encode())


@settings(max_examples=80)
@given(st.data(), VALUES)
def test_a_good_config_with_one_part_replaced(data: st.DataObject, value: Any) -> None:
    good = json.loads(json.dumps(GOOD))
    part: Any = good
    keys = [*part]
    while True:
        key = data.draw(st.sampled_from(keys))
        inner = part[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.booleans()):
            break
        part, keys = inner, [*inner] if isinstance(inner, dict) else [*range(len(inner))]
    part[key] = value
    config(json.dumps(good).encode())


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".yaml", ".csv", ""])
@given(content=CONTENT | VALUES.map(lambda data: json.dumps(data).encode()))
def test_any_bytes_as_dataset(suffix: str, content: bytes) -> None:
    source = DatasetSource(name=f"d{suffix}", open=lambda: io.BytesIO(content))
    try:
        found = check(source, {})
    except UsageError:
        with suppress(UsageError):
            list(cases(source, {}))
    else:
        assert [case.id for case in cases(source, {})] == list(found.digests)


@given(st.lists(st.dictionaries(st.sampled_from(["id", "input", "tags", "status"]), VALUES)))
def test_any_rows_as_dataset(rows: list[dict[str, Any]]) -> None:
    content = "\n".join(json.dumps(row) for row in rows).encode()
    source = DatasetSource(name="d.jsonl", open=lambda: io.BytesIO(content))
    with suppress(UsageError):
        assert len(list(cases(source, {}))) == check(source, {}).cases
