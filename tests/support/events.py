"""Payloads of GitHub's events: its own examples, changed where a test says so, and valid still."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match

from tests.support.paths import DATA

REPOSITORY = "Codertocat/Hello-World"  # of most examples


@cache
def _stored(name: str) -> dict[str, Any]:
    return json.loads((DATA / name).read_bytes())


def payload(event: str, **changes: Any) -> dict[str, Any]:
    """The example of `event`; keys of `changes` are paths with `__` for dots, and `...`
    takes a key away. An AssertionError says where it is not what GitHub's schema has.
    """
    found = copy.deepcopy(_stored("github_events.json")[event])
    for path, value in changes.items():
        *above, last = path.split("__")
        place = found
        for key in above:
            place = place[key]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    schemas = _stored("github_event_schemas.json")
    schema = {"definitions": schemas["definitions"], **schemas["events"][event]}
    wrong = best_match(Draft7Validator(schema).iter_errors(found))
    assert wrong is None, f"{event} is not as GitHub sends it: {wrong.json_path}: {wrong.message}"
    return found


def schedule(repository: dict[str, Any]) -> dict[str, Any]:
    """No webhook, so no schema: what a runner writes, which is the trigger's cron line."""
    return {"schedule": "17 3 * * *", "repository": repository, "workflow": "gate.yml"}
