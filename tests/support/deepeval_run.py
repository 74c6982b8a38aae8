"""Runs in deepeval's environment: `deepeval_run.py ADDRESS FOLDER`. Two evaluations of an agent
that asks ADDRESS, one a test run; what deepeval itself says of them goes to FOLDER/told.json.
"""

import asyncio
import json
import os
import sys
import urllib.request
from pathlib import Path

address, folder = sys.argv[1], Path(sys.argv[2])
os.chdir(folder)
os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "DEEPEVAL_RESULTS_FOLDER": str(folder / "runs"),
}

from deepeval import evaluate  # noqa: E402
from deepeval.dataset import EvaluationDataset, Golden  # noqa: E402
from deepeval.evaluate.configs import (  # noqa: E402
    CacheConfig,
    DisplayConfig,
    ErrorConfig,
)
from deepeval.metrics import BaseMetric, PatternMatchMetric  # noqa: E402
from deepeval.test_case import LLMTestCase, ToolCall  # noqa: E402
from deepeval.tracing import observe, update_current_trace  # noqa: E402


class Contains(BaseMetric):
    """The answer has the expected words; it breaks off where the question says so."""

    def __init__(self):
        self.threshold, self.async_mode, self.strict_mode = 1.0, True, False
        self.include_reason, self.evaluation_model = False, "rule-1"

    def measure(self, case, *_, **__):
        if "judge" in case.input:
            raise RuntimeError("the judge broke off")
        self.score = float(case.expected_output in case.actual_output)
        self.success, self.reason = self.score >= 1, ""
        return self.score

    async def a_measure(self, case, *_, **__):
        return self.measure(case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Contains"


def ask(question):
    body = json.dumps({"messages": [{"role": "user", "content": question}]}).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


@observe(type="agent")
async def agent(question, wanted):
    update_current_trace(input=question, expected_output=wanted)
    text = ask(question)
    update_current_trace(output=text)
    return text


QUIET = {
    "display_config": DisplayConfig(
        show_indicator=False, print_results=False, inspect_after_run=False
    ),
    "cache_config": CacheConfig(write_cache=False, use_cache=False),
    "error_config": ErrorConfig(ignore_errors=True),
}


def metrics():
    return [Contains(), PatternMatchMetric(pattern=r"The code is [0-9]+\.")]


cases = [
    LLMTestCase(
        input=f"code of {n}",
        actual_output=ask(f"code of {n}"),
        expected_output=f" {n}.",
        tools_called=[ToolCall(name="lookup", input_parameters={"n": n}, output=n)],
        retrieval_context=[f"codes, page {n}"],
        completion_time=0.25,
    )
    for n in range(1, 51)
]
found = evaluate(test_cases=cases, metrics=metrics(), **QUIET)
(folder / "dumped.json").write_text(json.dumps(found.model_dump()))
first = {"passed": sum(one.success for one in found.test_results), "all": len(found.test_results)}

asked = [*(f"code of {n}" for n in range(1, 7)), "busy 1", "broken 2", "judge of 3"]
dataset = EvaluationDataset(
    goldens=[Golden(input=text, expected_output=f" {text.split()[-1]}.") for text in asked]
)
for golden in dataset.evals_iterator(metrics=metrics(), **QUIET):
    dataset.evaluate(asyncio.create_task(agent(golden.input, golden.expected_output)))
(folder / "told.json").write_text(json.dumps(first))
