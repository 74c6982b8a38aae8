"""`promptfoo`: an eval as `promptfoo import` and promptfoo's viewer take it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gate.plugins import EXPORTERS, Rows
from gate.records import CheckedJson, Json, Report, TrialRow

VERSION = 3  # of promptfoo's results
_NONE, _ASSERT, _ERROR = 0, 1, 2  # promptfoo's reasons of a failure


@dataclass(slots=True)
class _Sums:
    """What promptfoo keeps of a prompt's results."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    score: float = 0.0
    latency_ms: float = 0.0
    cost: float = 0.0
    tokens: dict[str, int] = field(default_factory=lambda: _tokens({}))

    def add(self, result: Mapping[str, CheckedJson]) -> None:
        self.passed += result["success"]
        self.failed += result["failureReason"] == _ASSERT
        self.errors += result["failureReason"] == _ERROR
        self.score += result["score"]
        self.latency_ms += result.get("latencyMs", 0.0)
        self.cost += result.get("cost", 0.0)
        for name, number in result["tokenUsage"].items():
            self.tokens[name] += number


@EXPORTERS.register("promptfoo")
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptfooExport:
    """A suite is a prompt, the agent its provider; case and round are a test. Failed graders are
    failed assertions. A trial that nobody answered or judged, which promptfoo has no word for, is
    an error.
    """

    def pieces(self, report: Report, rows: Rows) -> Iterator[str]:
        sums: dict[str, _Sums] = {}
        yield f'{{"evalId":{_json(f"eval-agent-gate-{report.session_id}")},"results":{{'
        yield f'"version":{VERSION},"timestamp":{_json(report.created_at)},"results":['
        for number, row in enumerate(rows()):
            mine = sums.setdefault(row["suite"], _Sums())
            place = list(sums).index(row["suite"])
            result = _result(row, report, prompt=place, test=number)
            mine.add(result)
            yield f"{',' if number else ''}\n{_json(result)}"
        prompts = [_prompt(suite, report, one) for suite, one in sums.items()]
        yield f'\n],"prompts":{_json(prompts)},"stats":{_json(_stats(sums))}}},'
        yield _json(_around(report))[1:] + "\n"


def _result(row: TrialRow, report: Report, *, prompt: int, test: int) -> dict[str, CheckedJson]:
    suite, case_id = row["suite"], row["case_id"]
    success = row["passed"] is True
    reason = _NONE if success else _ASSERT if row["passed"] is False else _ERROR
    answered = row["status"] == "completed"
    reason = reason if answered else _ERROR
    named = {n: v for n, v in row["scores"].items() if v is not None and math.isfinite(v)}
    tokens = _tokens(row.get("usage") or {})
    figures = {"latencyMs": row["latency_ms"], "cost": row["cost_usd"]}
    failure = "" if success else _why(row)
    variables = {"case_id": case_id, "question": row["question"]}
    return {
        "id": _id(report.session_id, suite, case_id, row["round"]),
        "promptIdx": prompt,
        "testIdx": test,
        "promptId": _id(report.session_id, suite),
        "provider": {"id": report.provenance.agent or "agent", "label": ""},
        "prompt": {"raw": row["question"], "label": suite},
        "vars": variables,
        "testCase": {"description": case_id, "vars": variables, "metadata": {"id": case_id}},
        "response": {
            **({"output": row["output"] or ""} if answered else {"error": failure}),
            **{"tokenUsage": tokens, "cached": False},
        },
        "success": success,
        "score": float(success),
        "failureReason": reason,
        **({"error": failure} if reason != _NONE else {}),
        "gradingResult": _grading(row, failure, named) if answered else None,
        "namedScores": named,
        "tokenUsage": tokens,
        "metadata": {"suite": suite, "case_id": case_id, "round": row["round"]},
        **{key: value for key, value in figures.items() if value is not None},
    }


def _why(row: TrialRow) -> str:
    reasons = [row["error"], *row["failures"], *row["reasons"].values(), *row["unscored"].values()]
    return "; ".join(filter(None, reasons)) or "no grader decided whether it passed"


def _grading(row: TrialRow, reason: str, named: Mapping[str, float]) -> dict[str, CheckedJson]:
    failed = frozenset(row.get("failed_by") or ())
    parts = [
        {
            "pass": name not in failed,
            "score": float(name not in failed),
            "reason": text,
            "assertion": {"type": "javascript", "metric": name, "value": name},
        }
        for name, text in row["reasons"].items()
    ]
    success = row["passed"] is True
    return {
        "pass": success,
        "score": float(success),
        "reason": reason or "passed",
        "namedScores": named,
        "componentResults": parts,
    }


def _tokens(usage: Mapping[str, CheckedJson]) -> dict[str, int]:
    read, written = usage.get("input_tokens") or 0, usage.get("output_tokens") or 0
    cached = usage.get("cached_tokens") or 0
    return {"prompt": read, "completion": written, "cached": cached, "total": read + written}


def _prompt(suite: str, report: Report, sums: _Sums) -> dict[str, Json]:
    return {
        "id": _id(report.session_id, suite),
        "raw": suite,
        "label": suite,
        "provider": report.provenance.agent or "agent",
        "metrics": {
            "score": sums.score,
            "testPassCount": sums.passed,
            "testFailCount": sums.failed,
            "testErrorCount": sums.errors,
            "assertPassCount": sums.passed,
            "assertFailCount": sums.failed + sums.errors,
            "totalLatencyMs": sums.latency_ms,
            "tokenUsage": sums.tokens,
            "namedScores": {},
            "namedScoresCount": {},
            "cost": sums.cost,
        },
    }


def _stats(sums: Mapping[str, _Sums]) -> dict[str, Json]:
    tokens = _tokens({})
    for one in sums.values():
        for name, number in one.tokens.items():
            tokens[name] += number
    return {
        "successes": sum(sums_of_suite.passed for sums_of_suite in sums.values()),
        "failures": sum(sums_of_suite.failed for sums_of_suite in sums.values()),
        "errors": sum(sums_of_suite.errors for sums_of_suite in sums.values()),
        "tokenUsage": tokens,
    }


def _around(report: Report) -> dict[str, Json]:
    return {
        "config": {
            "description": ", ".join(report.suites),
            "prompts": list(report.suites),
            "providers": [report.provenance.agent or "agent"],
            "tests": [],
        },
        "shareableUrl": None,
        "metadata": {"evaluationCreatedAt": report.created_at},
        "vars": ["case_id", "question"],
    }


def _id(*of: Json) -> str:
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:32]


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
