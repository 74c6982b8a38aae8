"""A sample of Inspect as a trial: who failed, what each scorer said, what it took."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gate.errors import Place
from gate.files.json_schema import SchemaCheck
from gate.files.json_values import (
    as_amount,
    as_count,
    as_list,
    as_object,
    as_objects,
    as_strings,
    string_or_none,
)
from gate.files.timestamps import iso, moment_of
from gate.importers.formats.inspect.logs import TOOL
from gate.importers.trials import shapes
from gate.importers.trials.build import ToolSuite, score_metric, usage_of
from gate.importers.trials.conversations import conversation
from gate.importers.trials.names import metric_name, snake_case
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import (
    LARGEST,
    MOST_ROUNDS,
    Case,
    CheckedJson,
    Json,
    MetricSpec,
    Response,
    Score,
    Trial,
    TrialStatus,
    Usage,
)

CHECK = SchemaCheck(
    shapes.object_of(
        *("id", "epoch", "input"),
        id={"type": ["string", "integer"], "minLength": 1},
        epoch={"type": "integer", "minimum": 1, "maximum": MOST_ROUNDS},
        input={"type": ["string", "array"]},
        target={"type": ["string", "array", "null"]},
        messages=shapes.LIST,
        output=shapes.OBJECT,
        scores={**shapes.OBJECT, "additionalProperties": shapes.object_of("value")},
        metadata=shapes.OBJECT,
        model_usage=shapes.OBJECT,
        role_usage=shapes.OBJECT,
        error=shapes.object_of(null=True, message=shapes.STRING),
        limit=shapes.object_of(null=True, type=shapes.STRING),
        attachments=shapes.OBJECT,
    )
)
_LONGEST_ID = 500  # characters
# The machine that the agent was to work on, not the agent.
_SANDBOX = re.compile(
    r"\bSandbox(?:Unavailable|Injection|DefaultUser|UserUnsupported)Error\b|\bPrerequisiteError\b"
    r"|\bdocker (?:daemon|compose|build|pull)\b",
    re.IGNORECASE,
)
_TIMED_OUT = re.compile(r"\b(?:Timeout|APITimeout|Deadline\w*)Error\b|timed out", re.IGNORECASE)
_MOST_TEXT = 20_000  # characters of an error


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRules:
    """How a log's samples are read: `decides` names the score that says pass, from `threshold` on;
    None: none does. `mixed`: scores of numbers and of texts, which count as 0.
    """

    suite: str
    model: str
    decides: str | None
    threshold: float
    mixed: frozenset[str] = frozenset()


def id_of(sample: Mapping[str, Json]) -> str:
    return str(sample["id"])[:_LONGEST_ID]


def scores_of(sample: Mapping[str, CheckedJson]) -> Mapping[str, CheckedJson]:
    """A sample's scores by scorer; logs before 2024 had one score without a name."""
    scores = sample.get("scores")
    if scores is None and isinstance(sample.get("score"), dict) and "value" in sample["score"]:
        return {"score": sample["score"]}
    return scores or {}


def trial(sample: CheckedJson, rules: SampleRules, place: Place) -> Trial:
    """`sample` has passed CHECK."""
    attached = Attachments(sample.get("attachments"))
    status, error = _status(sample)
    scores, passed, failures = _judge_sample(sample, rules)
    if status == "agent_error":
        code = "timeout" if error and _TIMED_OUT.search(error[:_MOST_TEXT]) else "agent_error"
        failures = (code, *failures)
    suite = ToolSuite(TOOL, rules.suite)
    return suite.trial(
        _case(sample, suite, attached, place),
        round=sample["epoch"],
        status=status,
        passed=passed,
        failures=failures if status != "infra_error" else (),
        scores=scores,
        response=_response(sample, rules.model, attached),
        latency_ms=_latency(sample),
        error=error,
        started_at=iso(moment_of(sample.get("started_at"))),
    )


def _case(
    sample: Mapping[str, CheckedJson], suite: ToolSuite, attached: Attachments, place: Place
) -> Case:
    target, asked = sample.get("target"), attached.resolve(sample["input"])
    key = "expected_answer" if isinstance(target, str) else "expected_answers"
    category = (sample.get("metadata") or {}).get("category")
    return suite.case(
        id_of(sample),
        input=asked if isinstance(asked, str) else _keep_texts(asked),
        keys={key: attached.resolve(target)} if target else {},
        category=string_or_none(category, 200) or None,
        place=place,
    )


def _keep_texts(messages: Json) -> Json:
    """Roles and texts alone: what else they hold differs from run to run."""
    return [
        {"role": str(message.get("role")), "content": text_of(message.get("content"))}
        for message in as_objects(messages)
    ]


def _status(sample: Mapping[str, CheckedJson]) -> tuple[TrialStatus, str | None]:
    error = sample.get("error")
    if error is None:
        return "completed", None
    said = str(error.get("message") or "no message")[:_MOST_TEXT]
    nobody = is_nobodys(said) or _SANDBOX.search(said)
    return "infra_error" if nobody else "agent_error", said


def _judge_sample(
    sample: Mapping[str, Json], rules: SampleRules
) -> tuple[dict[str, Score], bool | None, tuple[str, ...]]:
    """The scorers' scores, whether it passed, and why not."""
    scores, values = scores_of(sample), dict[str, dict[str, float | None]]()
    passed, codes = None, tuple[str, ...]()
    for one in iterate_scores(scores):
        number = number_of(one.value)
        if number is None and isinstance(one.value, str) and one.name in rules.mixed:
            number = 0.0
        values.setdefault(one.scorer, {})[column(one.name)] = number
        if one.name == rules.decides and number is not None:
            passed = number >= rules.threshold
            codes = () if passed else _codes(sample, scores[one.scorer], code_of(one.value))
    deciding = next((o.scorer for o in iterate_scores(scores) if o.name == rules.decides), None)
    judged = {
        metric_name(TOOL, scorer): _score(score, values.get(scorer, {}))
        for scorer, score in scores.items()
    }
    if deciding is not None:  # the codes stand with the scorer that failed it
        name = metric_name(TOOL, deciding)
        judged[name] = replace(judged[name], passed=passed, failures=codes)
    return judged, passed, codes


def _score(score: Mapping[str, Json], values: Mapping[str, float | None]) -> Score:
    """What one scorer gave; without any number it is unscored."""
    why = next((v for k in ("explanation", "answer") if isinstance(v := score.get(k), str)), "")
    reason = score.get("reason")
    lacking = not any(value is not None for value in values.values())
    return Score(
        values={} if lacking else values,
        reason=why[:_MOST_TEXT],
        unscored=(f"{reason}"[:200] if reason else "no score") if lacking else None,
    )


def _codes(sample: Mapping[str, Json], score: Mapping[str, Json], code: str) -> tuple[str, ...]:
    limit, reason = sample.get("limit"), score.get("reason")
    kind = as_object(limit).get("type")
    codes = [f"{snake_case(kind)}_limit"] if isinstance(kind, str) else []
    codes += [snake_case(reason)] if isinstance(reason, str) and reason else []
    return (*codes, code)


def _response(sample: Mapping[str, CheckedJson], model: str, attached: Attachments) -> Response:
    messages = as_objects(attached.resolve(sample.get("messages")))
    response = conversation([_message(message) for message in messages], shows_calls=True)
    output = sample.get("output") or {}
    choice = as_object(next(iter(as_list(output.get("choices"))), None))
    message = choice.get("message")
    said = output.get("completion")
    if not isinstance(said, str):
        said = text_of(as_object(message).get("content"))
    finish, turns = choice.get("stop_reason"), as_count(sample.get("turn_count"))
    answer, faults = str(attached.resolve(said)), response.trace_faults
    if attached.missing:
        lost = f"{attached.missing} attachments are not in the log or too long, and not shown"
        faults = (*faults, lost)
    return replace(
        response,
        answer=answer,
        model=model,
        usage=_usage(sample, model),
        finish_reason=finish[:100] if isinstance(finish, str) else response.finish_reason,
        turns=response.turns if turns is None else turns,
        trace_faults=faults,
    )


_USED = (
    *("input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_read"),
    *("input_tokens_cache_write", "reasoning_tokens", "total_cost"),
)


def _usage(sample: Mapping[str, CheckedJson], model: str) -> Usage:
    """What the evaluated model used, not as a grader; if it is not there, what all models used."""
    by_model, by_role = sample.get("model_usage") or {}, sample.get("role_usage") or {}
    if len(by_model) > 1 and model in by_model:
        return _one(as_object(by_model[model]))
    added = as_objects([*by_model.values()])
    taken = as_object(by_role.get("grader") if len(by_model) == 1 else None)
    total = {}
    for key in _USED:
        found = [value for one in added if (value := as_amount(one.get(key))) is not None]
        if found:
            total[key] = max(0.0, sum(found) - (as_amount(taken.get(key)) or 0.0))
    return _one(total)


def _one(usage: Mapping[str, Json]) -> Usage:
    """Input tokens with those from the cache: newer logs count them apart, the total tells."""
    fresh, written = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
    cached = as_count(usage.get("input_tokens_cache_read"))
    stored = as_count(usage.get("input_tokens_cache_write")) or 0
    read = fresh
    if fresh is not None and as_count(usage.get("total_tokens")) != fresh + (written or 0):
        read = fresh + (cached or 0) + stored
    return usage_of(
        input=read,
        output=written,
        cached=cached,
        reasoning=usage.get("reasoning_tokens"),
        cost_usd=usage.get("total_cost"),
        total=usage.get("total_tokens"),
    )


def _latency(sample: Mapping[str, Json]) -> float | None:
    """Milliseconds without waits for rate limits and shared resources, where the log has them."""
    seconds = as_amount(sample.get("working_time"))
    seconds = as_amount(sample.get("total_time")) if seconds is None else seconds
    return None if seconds is None or seconds > LARGEST / 1000 else seconds * 1000


_PROTOCOL = "attachment://"
MOST_ATTACHED = 32 << 20  # characters that a sample's references may come to


class Attachments:
    """Long texts that stand once in a sample and are referred to by their hash."""

    def __init__(self, found: Json) -> None:
        self._found: Mapping[str, Json] = as_object(found)
        self._left = MOST_ATTACHED
        self.missing = 0

    def resolve(self, value: Json) -> Json:
        """The value with references replaced, and None in place of NaN and Infinity."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, list):
            return [self.resolve(one) for one in value]
        if isinstance(value, dict):
            return {key: self.resolve(one) for key, one in value.items()}
        return value

    def _text(self, value: str) -> str:
        if not value.startswith(_PROTOCOL):
            return value
        text = self._found.get(value.removeprefix(_PROTOCOL))
        if not isinstance(text, str) or len(text) > self._left:
            self.missing += 1
            return value
        self._left -= len(text)
        return text


def text_of(content: Json) -> str:
    """A message's text: of parts those that are text, a line each."""
    if isinstance(content, str):
        return content
    parts = as_objects(content)
    return "\n".join(as_strings([part.get("text") for part in parts if part.get("type") == "text"]))


def _message(message: Mapping[str, Json]) -> Json:
    role, said = message.get("role"), text_of(message.get("content"))
    if role == "tool":
        return {
            "role": "tool",
            "tool_call_id": string_or_none(message.get("tool_call_id")),
            "name": string_or_none(message.get("function")),
            "content": said,
            "error": string_or_none(as_object(message.get("error")).get("message")),
        }
    calls = message.get("tool_calls") if role == "assistant" else None
    made = [_call(call) for call in as_objects(calls) if isinstance(call.get("function"), str)]
    return {
        "role": string_or_none(role) or "user",
        "content": said,
        **({"tool_calls": made} if made else {}),
    }


def _call(call: Mapping[str, Json]) -> Json:
    inner = {"name": call["function"] or "unnamed", "arguments": call.get("arguments")}
    return {"id": string_or_none(call.get("id")), "type": "function", "function": inner}


# ------------------------------------------------------------------------------------------- scores


_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_FROM_VALUE = {"P": "partial", "N": "no_answer"}
MOST_SCORES = 200  # different ones in one log


def number_of(value: Json) -> float | None:
    """A score as a number, as in Inspect's `value_to_float`; None if it was not scored."""
    if isinstance(value, str):
        letter = _LETTERS.get(value, _WORDS.get(value.lower()))
        if letter is not None or len(value) > 40:
            return letter
    elif not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def is_beyond(value: Json) -> bool:
    """A number that nobody measured, Infinity too; NaN is what was not scored."""
    return isinstance(value, (int, float)) and value == value and abs(value) > LARGEST


def code_of(value: Json) -> str:
    """Why an answer did not pass."""
    return _FROM_VALUE.get(value, "incorrect") if isinstance(value, str) else "incorrect"


@dataclass(frozen=True, slots=True)
class GivenScore:
    """One value: of a scorer, or of one part of it where it gives several."""

    name: str  # `includes`, `parts.a`
    scorer: str
    value: Json


def iterate_scores(scores: Mapping[str, CheckedJson]) -> Iterator[GivenScore]:
    """Every value of a sample's `scores`."""
    for scorer, score in scores.items():
        value = score.get("value")
        if isinstance(value, dict):
            yield from (GivenScore(f"{scorer}.{key}", scorer, part) for key, part in value.items())
        elif isinstance(value, list):
            parts = enumerate(value[:MOST_SCORES], 1)
            yield from (GivenScore(f"{scorer}.{n}", scorer, part) for n, part in parts)
        else:
            yield GivenScore(scorer, scorer, value)


@dataclass(slots=True, kw_only=True)
class ScoreValues:
    """All values of one name in a log: [sum, number] by sample id over its epochs. A text that is
    no number counts as 0 beside numbers, as Inspect's metrics take it; texts alone are no score.
    """

    scorer: str
    by_id: dict[str, list[float]] = field(default_factory=dict)
    low: float = math.inf
    high: float = -math.inf
    graded: bool = True  # each value is correct or incorrect, 1 or 0
    measured: bool = False  # there is a number among them
    mixed: bool = False  # and a text that is none

    def add(self, sample_id: str, value: Json) -> None:
        number = number_of(value)
        if number is None and not isinstance(value, str):
            return
        self.measured = self.measured or number is not None
        self.mixed = self.mixed or number is None
        self.graded = self.graded and (number in (0.0, 1.0) or value == "P")
        number = number or 0.0
        self.low, self.high = min(self.low, number), max(self.high, number)
        place = self.by_id.setdefault(sample_id, [0.0, 0])
        place[0] += number
        place[1] += 1

    @property
    def means(self) -> tuple[float, float]:
        """Over the samples of their means over epochs, and over all at once."""
        each = [total / number for total, number in self.by_id.values()]
        number = sum(number for _, number in self.by_id.values())
        return math.fsum(each) / len(each), math.fsum(t for t, _ in self.by_id.values()) / number

    def spec(self, name: str) -> MetricSpec:
        """The metric of these values: a rate if they go from 0 to 1, else without bounds."""
        share = self.low >= 0.0 and self.high <= 1.0
        about = "mean over the samples, computed as Inspect's mean and accuracy"
        return score_metric(column(name), share=share, about=about)


def column(name: str) -> str:
    """`parts.a` -> `inspect.parts.a`."""
    return metric_name(TOOL, *name.split(".", 1))


def decider(seen: Mapping[str, ScoreValues], order: Sequence[str]) -> str | None:
    """The first scorer, in the log's order, whose values all say correct or incorrect."""
    ordered = sorted(seen, key=lambda n: order.index(n) if n in order else len(order))
    return next((n for n in ordered if seen[n].measured and seen[n].graded), None)
