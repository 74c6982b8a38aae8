"""`gate schema` prints schemas that are schemas."""

import json
from argparse import Namespace

import pytest

from gate.commands.schema import run
from gate.files.json_schema import mismatches


@pytest.mark.parametrize("what", ["config", "case", "session", "baseline", "details", "meta"])
def test_each_is_a_json_schema(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Namespace(what=what), {}) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["type"] == "object"
    assert mismatches({"$ref": "https://json-schema.org/draft/2020-12/schema"}, schema) == []
    assert mismatches(schema, "text") != []
