"""Cases that a model proposes, from existing cases or production logs: asked for, checked, without
duplicates. No proposed case runs before a person approves it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gate.errors import InfrastructureError
from gate.plugins import Ask
from gate.records import Case, CheckedJson, Json, Question
from gate.suites.cases.curation.counting import question
from gate.suites.cases.curation.similar import ALIKE, Known
from gate.text import figures
from gate.text.prompt_fence import DATA_NOT_INSTRUCTIONS, fence_text, make_canary
from gate.text.sensitive import PERSONAL, SHAPES, SensitivePattern

_NOTHING = "no cases from request"  # begins the note on a request that failed
_IN_VAIN = 3  # replies without anything new, after which nobody is asked any more

Row = dict[str, Json]

_SAID = SensitivePattern(  # more than is surely a secret: whatever follows the word for one
    kind="password",
    pattern=re.compile(
        r"(?i:\b(?:password|passwd|secret|token|api[_-]?key)\b\s*(?:[:=]|\bis\b)\s*)(?!<)\S+"
    ),
)
_SHAPES = (
    *(shape for shape in SHAPES if shape.kind not in PERSONAL),
    _SAID,
    *(shape for shape in SHAPES if shape.kind in PERSONAL),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """A text with `<email>` and similar marks, and how many values of each kind were replaced."""

    text: str
    found: Counter[str]


def clean_text(text: str) -> Cleaned:
    """The text without personal data and secrets. Equal texts give equal results; existing marks
    stay.
    """
    found: Counter[str] = Counter()
    for shape in _SHAPES:
        kind = shape.kind if shape.kind in PERSONAL else "secret"

        def replaced(
            match: re.Match[str], kind: str = kind, shape: SensitivePattern = shape
        ) -> str:
            if not shape.holds(match[shape.group]):
                return match[0]
            found[kind] += 1
            return f"<{kind}>"

        text = shape.pattern.sub(replaced, text)
    return Cleaned(text=text, found=found)


PER_QUESTION = 10  # cases or log entries that one question to the model is about
MOST_DOCUMENTS = 5  # that are proposed as relevant to a case
_LONGEST_ID = 200  # characters
_SHOWN = 3_000  # characters of one seed case or log entry
_TEXT: Json = {"type": "string", "minLength": 1, "maxLength": 4_000}
_LABELS: dict[str, Json] = {
    "category": {"type": "string", "minLength": 1, "maxLength": 80},
    "expected_answer": {"type": ["string", "null"], "maxLength": 4_000},
    "expected_facts": {
        "type": "array",
        "items": {"type": ["string", "number"]},
        "maxItems": 20,
    },
    "why": {"type": "string", "maxLength": 500},
}
_SEED_TEXT = (
    "You help to extend a test set for an AI agent. You are shown cases of the set. Propose {count}"
    " new cases that the same agent should be able to handle, or should decline: other subjects,"
    " other wordings, other difficulties than those shown, in the language of the set; about one in"
    " ten that the agent's material cannot answer. Never repeat a case with another number or"
    " name. Give an expected answer and facts only where the material shown supports them, else"
    " null and an empty list: a person completes them. Use no names, addresses or numbers of real"
    " people."
)
_LOG_TEXT = (
    "You help to make test cases for an AI agent out of questions that users asked. You are shown"
    " numbered entries of its log. For each entry say in `keep` whether it makes a good case:"
    " one clear question that can be judged, about the agent's subject, with no person in it."
    " Give it a category, and an expected answer and facts only where the entry's context supports"
    " them, else null and an empty list: a person completes them. Facts are short texts or numbers"
    " that a right answer must state."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a log, without personal data: what the user asked, and what is known about it."""

    line: int
    text: str
    answer: str | None = None
    context: str | None = None
    retrieved: tuple[str, ...] = ()  # ids of documents, best first


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedDocuments:
    """Documents found for a question, best first. They are relevant only after a person has said
    so; until then `by` says who found them.
    """

    ids: tuple[str, ...]
    by: str

    def add_to(self, row: Mapping[str, CheckedJson]) -> dict[str, CheckedJson]:
        """The proposal with these documents; unchanged if there are none."""
        if not self.ids:
            return dict(row)
        about = {**row["metadata"], "relevant_doc_ids": {"by": self.by, "read_by": None}}
        return {**row, "relevant_doc_ids": list(self.ids), "metadata": about}


@dataclass(slots=True, kw_only=True)
class Intake:
    """Decides what is new: every new question is compared with all existing ones."""

    known: Known
    ids: set[str]
    absent: Mapping[str, Json]  # keys that every case has, and a proposal may lack -> null
    made_by: Mapping[str, Json]  # metadata.provenance of a proposal
    left_out: list[str] = field(default_factory=list)  # why, one sentence each
    # Question -> documents that may be relevant, best first; None: nobody knows any.
    found: Callable[[str], ProposedDocuments | None] = lambda text: None

    def case(
        self,
        text: str,
        labels: Mapping[str, CheckedJson],
        source: Json,
        documents: ProposedDocuments | None = None,
    ) -> dict[str, Json] | None:
        """The proposal as a row of the dataset; None where it says nothing new. `documents`: what
        is known to have been retrieved for it.
        """
        safe = clean_text(text.strip())
        near = self.known.nearest(safe.text)
        if near is not None and near[1] >= ALIKE:
            what = "the same as" if near[1] == 1.0 else f"{figures.portion(near[1])} the words of"
            self.left_out.append(f"'{safe.text[:80]}' is {what} {near[0]}")
            return None
        name = f"p-{hashlib.sha256(safe.text.encode()).hexdigest()[:8]}"
        if name in self.ids:
            self.left_out.append(f"'{safe.text[:80]}' is already in the dataset as {name}")
            return None
        self.ids.add(name)
        self.known.add(name, safe.text)
        facts = [
            {"value": clean_text(one).text if isinstance(one, str) else one}
            for one in labels["expected_facts"]
        ]
        answer = labels["expected_answer"]
        row: dict[str, Json] = {
            **self.absent,
            "id": name,
            "input": safe.text,
            "category": clean_text(labels["category"]).text,
            "expected_answer": None if answer is None else clean_text(answer).text,
            "expected_facts": facts or None,
            "status": "proposed",
            "metadata": {
                "provenance": {"kind": "proposed", **self.made_by, "from": source},
                "why": clean_text(labels["why"]).text,
            },
        }
        documents = documents or self.found(safe.text)
        return documents.add_to(row) if documents else row


def entry(data: Json, line: int, redact: Callable[[str], str]) -> Entry | None:
    """The entry in a line of a log: a text, or an object with the question under one of the names
    of a case's input. None if it has no question.
    """
    given = data if isinstance(data, dict) else {"input": data}
    asked = next((given[k] for k in ("input", "query", "question", "prompt") if given.get(k)), None)
    if asked is None:
        return None
    text = question({"input": asked}).strip()

    def safe(key: str) -> str | None:
        value = given.get(key)
        return clean_text(redact(str(value))).text if value else None

    log_entry = Entry(
        line=line,
        text=clean_text(redact(text)).text,
        answer=safe("answer") or safe("output"),
        context=safe("context"),
        retrieved=document_ids(given.get("retrieved_ids") or given.get("retrieved")),
    )
    return log_entry if log_entry.text else None


def document_ids(listed: Json, most: int = MOST_DOCUMENTS) -> tuple[str, ...]:
    """The first ids in a list of ids or of objects with an id; empty for anything else."""
    some = listed[:most] if isinstance(listed, list) else []
    ids = [one.get("id") if isinstance(one, dict) else one for one in some]
    texts = [str(one) for one in ids if isinstance(one, (str, int)) and not isinstance(one, bool)]
    return tuple(dict.fromkeys(text for text in texts if 0 < len(text) <= _LONGEST_ID))


def part_of(seeds: Sequence[Mapping[str, Json]], turn: int) -> list[Mapping[str, Json]]:
    """The seeds that the question of a turn shows: each turn others, round and round."""
    start = turn * PER_QUESTION % max(1, len(seeds))
    return [*seeds[start:], *seeds[:start]][:PER_QUESTION]


def from_seeds(shown: Sequence[Mapping[str, Json]], count: int, turn: int) -> Question:
    """Asks for `count` new cases beside those that are shown."""
    texts = [json.dumps(_describe_seed(seed), ensure_ascii=False, sort_keys=True) for seed in shown]
    material = "\n".join(
        fence_text(f"case {n}", clean_text(text).text, limit=_SHOWN)
        for n, text in enumerate(texts, 1)
    )
    item = {"input": _TEXT, **_LABELS}
    most = 2 * PER_QUESTION  # a model that counts badly loses nothing
    return _question(f"extend {turn}", _SEED_TEXT.format(count=count), material, item, most)


def from_log(entries: Sequence[Entry], turn: int) -> Question:
    """The question that asks which entries make a case, and how to label them."""
    material = "\n".join(
        fence_text(f"entry {n}", json.dumps(_describe_entry(one), ensure_ascii=False), limit=_SHOWN)
        for n, one in enumerate(entries, 1)
    )
    number = {"type": "integer", "minimum": 1, "maximum": len(entries)}
    item = {"entry": number, "keep": {"type": "boolean"}, **_LABELS}
    return _question(f"label {turn}", _LOG_TEXT, material, item, len(entries))


def read_proposals(
    data: Mapping[str, CheckedJson], intake: Intake, source: CheckedJson
) -> Iterator[dict[str, Json]]:
    """The new cases of a reply to `from_seeds`."""
    for labels in data["cases"]:
        case = intake.case(labels["input"], labels, source)
        if case is not None:
            yield case


def read_labels(
    data: Mapping[str, CheckedJson], entries: Sequence[Entry], intake: Intake, log: str
) -> Iterator[dict[str, Json]]:
    """The new cases of a reply to `from_log`: what users asked, in their words."""
    for labels in data["cases"]:
        one = entries[labels["entry"] - 1]
        if not labels["keep"]:
            intake.left_out.append(f"{log}:{one.line}: not kept: {labels['why'][:200]}")
            continue
        place = f"{log}:{one.line}"
        known = ProposedDocuments(ids=one.retrieved, by=place) if one.retrieved else None
        case = intake.case(one.text, labels, place, known)
        if case is not None:
            yield {**case, **({"context": one.context} if one.context else {})}


def _question(
    name: str, instructions: str, material: str, item: Mapping[str, CheckedJson], most: int
) -> Question:
    token = make_canary(instructions, material)
    form: dict[str, Json] = {
        "type": "object",
        "properties": item,
        "required": list(item),
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {
            "canary": {"const": token},
            "cases": {"type": "array", "items": form, "maxItems": most},
        },
        "required": ["canary", "cases"],
        "additionalProperties": False,
    }
    ending = (
        f"Answer with one JSON object and nothing else. It fits this JSON Schema:\n"
        f"{json.dumps(schema)}"
    )
    return Question(
        role="judge",
        name=name,
        instructions=f"{instructions}\n\n{DATA_NOT_INSTRUCTIONS}\n\n{ending}",
        material=material,
        schema=schema,
        canary=token,
    )


def _describe_seed(seed: Mapping[str, Json]) -> dict[str, Json]:
    keys = ("input", "category", "expected_answer", "expected_facts", "context")
    return {key: seed[key] for key in keys if seed.get(key)}


def _describe_entry(log_entry: Entry) -> dict[str, Json]:
    described = {
        "question": log_entry.text,
        "answer": log_entry.answer,
        "context": log_entry.context,
    }
    return {key: value for key, value in described.items() if value}


def more_like(
    seeds: Sequence[Mapping[str, Json]], count: int, intake: Intake, ask: Ask
) -> list[Row]:
    """At most `count` new cases. Raises InfrastructureError if the model gives no usable reply."""
    proposals: list[Row] = []
    turn = in_vain = 0
    while len(proposals) < count and in_vain < _IN_VAIN:
        wanted = min(PER_QUESTION, count - len(proposals))
        shown = part_of(seeds, turn)
        data = _answer(from_seeds(shown, wanted, turn), turn, intake, ask)
        source = [str(seed.get("id")) for seed in shown]
        new = list(read_proposals(data, intake, source)) if data else []
        proposals += new[: count - len(proposals)]
        in_vain = 0 if new else in_vain + 1
        turn += 1
    return _something(proposals, intake)


def out_of_log(
    entries: Sequence[Entry], count: int, intake: Intake, ask: Ask, log: str
) -> list[Row]:
    """At most `count` cases made from what users asked. Raises InfrastructureError."""
    labelled: list[Row] = []
    fresh = _not_yet_known(entries, intake, log)
    for turn, start in enumerate(range(0, len(fresh), PER_QUESTION)):
        if len(labelled) >= count:
            break
        some = fresh[start : start + PER_QUESTION]
        data = _answer(from_log(some, turn), turn, intake, ask)
        if data:
            labelled += list(read_labels(data, some, intake, log))[: count - len(labelled)]
    return _something(labelled, intake)


def _not_yet_known(entries: Sequence[Entry], intake: Intake, log: str) -> list[Entry]:
    """Nobody is asked about a question that the set has in the same words."""
    fresh: dict[str, Entry] = {}
    for one in entries:
        near = intake.known.nearest(one.text)
        if near is not None and near[1] == 1.0:
            intake.left_out.append(f"{log}:{one.line}: the same as {near[0]}")
        else:
            fresh.setdefault(one.text, one)
    return list(fresh.values())


def _answer(question: Question, turn: int, intake: Intake, ask: Ask) -> Mapping[str, Json] | None:
    """The first vote that came; why there is none is noted."""
    (votes,) = ask(Case(id=f"{question.name}-{turn}", input="", keys={}), [question])
    failures = [reply.failure for reply in votes if reply.data is None]
    intake.left_out += [f"{_NOTHING} {turn + 1}: {failure}" for failure in failures]
    return next((reply.data for reply in votes if reply.data is not None), None)


def _something(proposals: list[Row], intake: Intake) -> list[Row]:
    if not proposals and any(why.startswith(_NOTHING) for why in intake.left_out):
        why = next(why for why in intake.left_out if why.startswith(_NOTHING))
        raise InfrastructureError(f"the model proposed nothing: {why}")
    return proposals
