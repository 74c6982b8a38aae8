"""Is the answer JSON of the right form?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gate.errors import GraderFailure, UsageError
from gate.files.json_schema import mismatches
from gate.graders.openagent_rules.form import FORM, FORM_METRIC
from gate.graders.openagent_rules.json_text import Fault, read_json
from gate.plugins import GRADERS
from gate.records import Case, CheckedJson, Json, MetricSpec, Response, Score

_FENCED = re.compile(r"\A```[^\n`]*\n(.*?)\n?```\Z", re.DOTALL)
_META: CheckedJson = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
_MOST_CODES = 20


@GRADERS.register("json_format")
@dataclass(frozen=True, slots=True, kw_only=True)
class JsonFormat:
    """Passes when the whole answer is JSON of the `type`, has every one of `required_keys`, and
    fits `schema` (JSON Schema 2020-12). One code fence around it is allowed. With `key` the case
    has the schema, and a case without one is not judged.
    """

    type: Literal["object", "array", "any"] = "any"
    required_keys: tuple[str, ...] = ()
    schema: Mapping[str, CheckedJson] | None = None
    key: str | None = None
    allow_fence: bool = True

    @property
    def keys(self) -> Mapping[str, Json]:
        return {self.key: {"type": "object"}} if self.key else {}

    @property
    def needs(self) -> tuple[str, ...]:
        return ()

    def __post_init__(self) -> None:
        if self.schema is None:
            return
        wrong = mismatches(_META, dict(self.schema))
        if wrong:
            where = ".".join(map(str, ("schema", *wrong[0].path)))
            raise UsageError(f"json_format: {where}: {wrong[0].message}")

    def metrics(self) -> tuple[MetricSpec, ...]:
        return (FORM_METRIC,)

    def grade(self, case: Case, response: Response) -> Score:
        case_schema = case.keys.get(self.key) if self.key else None
        if self.key and not case_schema:
            return Score(values={FORM: None})
        text = (response.answer or "").strip()
        fenced = _FENCED.match(text) if self.allow_fence else None
        data = read_json(fenced[1] if fenced else text, fence=False)
        if isinstance(data, Fault):
            return _fail(["json_format_invalid"], f"not JSON: {data.why}"[:300])
        failures = self._wrong_kind(data) or [
            *self._missing(data),
            *_list_mismatches(self.schema, data),
            *_list_mismatches(case_schema, data),
        ]
        if failures:
            return _fail(failures, "; ".join(failures[:5]).replace("_", " "))
        return Score(values={FORM: 1.0}, passed=True)

    def _wrong_kind(self, data: Json) -> list[str]:
        wants_object = self.type == "object" or (self.type == "any" and self.required_keys)
        if wants_object and not isinstance(data, dict):
            return ["json_object_expected"]
        if self.type == "array" and not isinstance(data, list):
            return ["json_array_expected"]
        return []

    def _missing(self, data: Json) -> list[str]:
        there = data if isinstance(data, dict) else {}
        return [f"missing_key:{key}" for key in self.required_keys if key not in there]


def _list_mismatches(schema: Mapping[str, Json] | None, data: Json) -> list[str]:
    if schema is None:
        return []
    try:
        wrong = mismatches(dict(schema), data)
    except Exception as error:  # a reference that leads nowhere, data nested too deeply
        raise GraderFailure(f"schema: {type(error).__name__}: {error}"[:300]) from error
    return [
        f"schema_mismatch:{'.'.join(map(str, mismatch.path)) or '$'}"[:120]
        for mismatch in wrong[:_MOST_CODES]
    ]


def _fail(failures: list[str], reason: str) -> Score:
    codes = tuple(dict.fromkeys(failures))
    return Score(values={FORM: 0.0}, passed=False, failures=codes, reason=reason)
