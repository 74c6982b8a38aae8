"""Whatever an export of Langfuse or Braintrust holds: it is told, or it becomes a session."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.importers.braintrust import SHAPE
from gate.importers.langfuse import SHAPE as TRACES
from gate.plugins import IMPORTERS
from gate.store.trial_rows import row_of
from tests.support.hostile_text import PIECES

hostile = st.one_of(st.text(max_size=30), st.sampled_from(PIECES))
value = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), hostile),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(hostile, inner, max_size=3)
    ),
    max_leaves=6,
)


def names(shape):
    paths = {path.partition(".")[0] for some in shape.columns.values() for path in some}
    return sorted(paths | {"scores", "metrics", "metadata", "value", "data_type", "name"})


@pytest.mark.parametrize(("tool", "shape"), [("braintrust", SHAPE), ("langfuse", TRACES)])
@settings(max_examples=40)
@given(data=st.data())
def test_any_rows_are_read_or_refused(tool, shape, data):
    keys = st.one_of(st.sampled_from(names(shape)), hostile)
    rows = data.draw(st.lists(st.dictionaries(keys, value, max_size=8), max_size=4))
    text = "\n".join(json.dumps(row) for row in rows)
    read(tool, data.draw(st.sampled_from((text, f"[{text}]", text[: len(text) // 2]))).encode())


@pytest.mark.parametrize("tool", ["braintrust", "langfuse"])
@settings(max_examples=40)
@given(st.one_of(st.binary(max_size=200), st.text(alphabet='ab,;\t"\n\r\0{}[]:1', max_size=60)))
def test_any_bytes_are_read_or_refused(tool, content):
    read(tool, content if isinstance(content, bytes) else b"input,b\n" + content.encode())


def read(tool, content):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x"
        file.write_bytes(content)
        try:
            found = IMPORTERS.get_class(tool)().read(file)
        except UsageError:
            return
        (suite,) = found.suites.values()
        trials = list(found.trials())
        assert len({(one.case.id, one.round) for one in trials}) == len(trials)
        assert max(one.round for one in trials) == suite.rounds
        for one in trials:
            assert json.dumps(row_of(one, cost_usd=None, on_agent_error={}, specs={}))
