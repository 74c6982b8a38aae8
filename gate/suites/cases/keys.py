"""The keys of a case: which are known, which values they may have, which of them a suite needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from gate.errors import GraderFailure, UsageError
from gate.files.json_schema import join_misspelt, mismatches
from gate.files.json_schema_quick import Check, compile_check
from gate.files.yaml import format_path, scalar
from gate.plugins import GRADERS, ChecksCases, DoubtsCases, Grader
from gate.records import LONGEST_S, CheckedJson, Json
from gate.text.late_pattern import late_pattern

INPUT_KEYS = ("input", "query", "question", "prompt")  # one of them; `input` is the proper name
ANSWER, ANSWER_ALIAS = "expected_answer", "expected"
STATUSES = ("approved", "proposed", "rejected")
# Not part of what is measured, so not part of a case's content hash (docs/semantics.md 5).
OUTSIDE_DIGEST = frozenset(("id", "category", "tags", "status", "metadata", "check_allow"))
# What `gate dataset check` makes of a right answer; none of it is one (docs/datasets.md).
MUTATIONS = ("empty", "other_gold", "swapped", "turned", "number_5pct")
# What the form of `gate init` has where nobody has written anything yet.
QUESTION = "..."
FACT = "what a right answer has to say"
DOCUMENT = "id of the document with the answer"
TOOL = "a_tool"

_PLACEHOLDERS = (
    ("expected_facts", FACT),
    ("relevant_doc_ids", DOCUMENT),
    ("expected_tool_calls", TOOL),
)
_FORM_ID = late_pattern(r"question-\d+")  # elsewhere three dots may be a question
_TEXT: Json = {"type": "string"}
_ANY: Json = {}
OWN_KEYS: Mapping[str, CheckedJson] = {
    "id": {"type": ["string", "integer"]},
    **{key: {"type": ["string", "array", "object"]} for key in INPUT_KEYS},
    "category": {"type": ["string", "null"]},
    "tags": {"type": ["array", "null"], "items": _TEXT},
    "status": {"enum": list(STATUSES)},
    "metadata": {"type": ["object", "null"]},
    "check_allow": {
        "type": ["object", "null"],
        "properties": {name: {"type": "string", "minLength": 1} for name in MUTATIONS},
        "additionalProperties": False,
    },
    "temperature": {"type": ["number", "null"], "minimum": 0, "maximum": 2},
    "top_p": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    "max_tokens": {"type": ["integer", "null"], "minimum": 1},
    "timeout_sec": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": LONGEST_S},
}
REQUEST_KEYS = ("temperature", "top_p", "max_tokens")  # of a case, for its own request
# Keys of docs/datasets.md and of the OpenAgent suites that a case may have although no grader here
# reads them.
# What any of our graders reads. Asking each of them would load them all.
_GRADER_KEYS = (
    "canary context count_rules eval exact_words expected_answer expected_answer_regex"
    " expected_facts expected_keys expected_state expected_tool_calls fact_patterns forbid_patterns"
    " format_type geolocation instantiation_dict intent intent_template intent_template_id"
    " item_count line_prefix max_chars max_items max_words min_chars min_items min_words"
    " must_patterns optimal_steps output_requirements reference_trajectory relevance_scores"
    " relevant_doc_ids require_login require_reset required_tools safety sites stage_requirements"
    " start_url storage_state string_note task_id tools"
)
GRADER_KEYS = frozenset(_GRADER_KEYS.split())
_OTHER_KEYS = (
    *(ANSWER, ANSWER_ALIAS, "expected_facts", "relevant_doc_ids", "relevance_scores", "context"),
    *("expected_tool_calls", "tools", "optimal_steps", "rubric", "reference_trajectory"),
    *("name", "intent", "format_type", "expected_keys", "fact_patterns", "must_patterns"),
    *("forbid_patterns", "expected_answer_regex", "min_chars", "max_chars", "max_words"),
    *("line_prefix", "item_count", "required_tools", "output_requirements"),
    "stage_requirements",
)


FurtherCheck = Callable[[Mapping[str, Json]], Iterable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRule:
    """What a key of a case must contain, and which grader says so."""

    reader: str  # grader name; empty: every case
    schema: CheckedJson
    fits: Check

    def explain(self, key: str, value: Json) -> Iterator[str]:
        """What is wrong with a value that does not surely fit."""
        try:
            for wrong in join_misspelt(mismatches(self.schema, value)):
                yield f"{format_path((key, *wrong.path))}: {wrong.message}"
        except GraderFailure as failure:  # its patterns take too long
            yield f"{key}: {failure}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRules:
    """All rules for the cases of one suite."""

    known: frozenset[str]
    rules: Mapping[str, tuple[KeyRule, ...]]
    needs: tuple[tuple[str, str], ...]  # key, grader name
    always: bool = False  # some grader judges a case whatever keys it lacks
    further: tuple[tuple[str, FurtherCheck], ...] = ()  # grader name, its `case_faults`
    doubts: tuple[FurtherCheck, ...] = ()  # the graders' `case_doubts`
    lists: frozenset[str] = frozenset()  # keys that are lists only: one value is a list of it

    def faults(self, keys: Mapping[str, Json]) -> Iterator[str]:
        """What is wrong with the values of a case: one `key: message` each, with the graders that
        read it. None is valid for a grader's key. Graders are also asked what no JSON Schema of a
        single key can express, if their own keys are valid.
        """
        sentences: dict[str, list[str]] = {}
        for key, value in keys.items():
            for rule in self.rules.get(key, ()):
                if rule.fits(value) or (value is None and rule.reader):
                    continue
                for message in rule.explain(key, value):
                    sentences.setdefault(message, []).append(rule.reader)
        misread = {reader for readers in sentences.values() for reader in readers}
        for reader, faults in self.further:
            for message in () if reader in misread else faults(keys):
                sentences.setdefault(message, []).append(reader)
        for message, readers in sentences.items():
            who = " and ".join(f"'{reader}'" for reader in dict.fromkeys(readers) if reader)
            yield f"{message} (read by {who})" if who else message

    def normalise_keys(self, data: Mapping[str, Json]) -> Mapping[str, Json]:
        """The case as graders read it: `expected` also becomes the expected answer, unless a grader
        reads that key itself, and a missing key that a grader needs becomes None.
        """
        given = data.get(ANSWER_ALIAS)
        alias = ANSWER not in data and ANSWER_ALIAS not in self.rules and _is_answer(given)
        alias_keys = {ANSWER: given} if alias else {}
        absent = {key: None for key, _ in self.needs if key not in data and key not in alias_keys}
        return {**data, **alias_keys, **absent} if alias_keys or absent else data

    def from_text(self, key: str, cell: str) -> Json:
        """A CSV cell with the type that its key needs: a number stays text unless text is
        invalid.
        """
        wanted = [kind for rule in self.rules.get(key, ()) for kind in _kinds(rule.schema)]
        return scalar(cell) if wanted and "string" not in wanted else cell


def _is_answer(value: Json) -> bool:
    """Whether it can be an expected answer: other things under `expected` are somebody's own."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, str) for one in value)
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def key_rules(graders: Mapping[str, Grader]) -> KeyRules:
    """The rules of a suite with these graders (name -> grader)."""
    rules: dict[str, list[KeyRule]] = {
        key: [KeyRule(reader="", schema=schema, fits=compile_check(schema))]
        for key, schema in OWN_KEYS.items()
    }
    for name, grader in graders.items():
        for key, schema in grader.keys.items():
            rule = KeyRule(reader=name, schema=schema, fits=compile_check(schema))
            rules.setdefault(key, []).append(rule)
    return KeyRules(
        known=frozenset((*rules, *_OTHER_KEYS)),
        rules={key: tuple(keys) for key, keys in rules.items()},
        needs=tuple((key, name) for name, grader in graders.items() for key in grader.needs),
        always=any(not grader.needs for grader in graders.values()),
        further=tuple(
            (name, grader.case_faults)
            for name, grader in graders.items()
            if isinstance(grader, ChecksCases)
        ),
        lists=frozenset(
            key
            for key, found in rules.items()
            if all(rule.reader and _kinds(rule.schema) == ["array"] for rule in found)
        ),
        doubts=tuple(g.case_doubts for g in graders.values() if isinstance(g, DoubtsCases)),
    )


def case_schema() -> dict[str, Json]:
    """JSON Schema of a case (2020-12) as the registered graders read it; further keys are allowed
    (they are a warning).
    """
    properties: dict[str, Json] = dict.fromkeys(_OTHER_KEYS, _ANY)
    for name in GRADERS:
        for key, schema in _class_keys(name).items():
            key_schema = properties.get(key) or schema
            properties[key] = (
                key_schema if key_schema == schema else {"anyOf": [key_schema, schema]}
            )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A case of an Agent Gate dataset",
        "type": "object",
        "properties": {**OWN_KEYS, **properties},
        "required": ["id"],
        "oneOf": [{"required": [key]} for key in INPUT_KEYS],
    }


def _class_keys(name: str) -> Mapping[str, Json]:
    """What a grader reads with no options; nothing when it cannot do without one."""
    cls = GRADERS.get_class(name)
    try:
        return cls.keys if isinstance(cls.keys, Mapping) else cls().keys
    except (TypeError, UsageError):
        return {}


def _kinds(schema: CheckedJson) -> list[str]:
    kinds = schema.get("type", "string")
    return kinds if isinstance(kinds, list) else [kinds]


def is_unfilled(data: Mapping[str, Json]) -> bool:
    """Whether the case's question is still that of the form."""
    return data.get("input") == QUESTION and bool(_FORM_ID.fullmatch(str(data.get("id"))))


def find_unfilled(data: Mapping[str, Json]) -> Iterator[str]:
    """What of the case is still as the form has it, a sentence each."""
    if is_unfilled(data):
        yield f'input: still says "{QUESTION}" - write the question, or delete the case'
    for key, placeholder in _PLACEHOLDERS:
        value = data.get(key)
        if value and placeholder in str(value) and placeholder in _list_texts(value):
            yield f'{key}: still says "{placeholder}" - write what you expect, or delete the line'


def _list_texts(value: Json) -> list[Json]:
    """The value, the items of a list, and what their `value` or `name` is."""
    items = value if isinstance(value, list) else [value]
    return [
        text
        for item in items
        for text in ((item.get("value"), item.get("name")) if isinstance(item, dict) else (item,))
    ]
