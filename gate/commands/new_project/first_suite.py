"""gate.yml and a dataset for an agent of the user's own: text in which every line is explained, and
in which nothing can fail before the user has written a case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gate.records import Json

SCHEMA = ".gate/config.schema.json"
DATASET = "datasets/questions.yaml"
TEMPLATES = ("chat", "rag", "tools", "langgraph")
ADAPTER = "gate_agent.py"  # of the template langgraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """A grader of the template, as gate.yml has it. `needs`: a line of each case for it. `off`: why
    it does not fit yet; empty: it is on.
    """

    grader: str
    about: str
    needs: str = ""
    off: str = ""


_FACTS = Grading(
    grader="facts",
    about="the answer says what `expected_facts` lists: numbers or texts",
    needs='expected_facts: [{value: "what a right answer has to say"}]',
)
_ANY_ANSWER = Grading(grader="regex: {pattern: '\\S'}", about="there is an answer at all")
_NO_DOCUMENTS = (
    "the first answer named no documents: if the agent reports them, add their path to `agent`"
)
_NO_TEXTS = "the first answer had no texts to check numbers against: `agent.response.context`"
_NO_STEPS = (
    "the first answer had no tool calls: if the agent reports them, add their path to `agent`"
)


def choose_graders(
    template: str,
    *,
    has_documents: bool | None,
    has_texts: bool | None,
    has_steps: bool | None,
) -> tuple[Grading, ...]:
    """The graders of a template. Those that need what the agent was seen not to report are off."""
    if template == "rag":
        off = _NO_DOCUMENTS if has_documents is False else ""
        return (
            _FACTS,
            Grading(
                grader="retrieval: {k: [1, 3, 5]}",
                about="the documents of `relevant_doc_ids` were retrieved",
                needs='relevant_doc_ids: ["id of the document with the answer"]',
                off=off,
            ),
            Grading(
                grader="hallucination",
                about="numbers in the answer come from the documents",
                off=_NO_TEXTS if has_texts is False else "",
            ),
        )
    if template in ("tools", "langgraph"):
        return (
            _FACTS,
            Grading(
                grader="tool_calls",
                about="the calls of `expected_tool_calls` were made",
                needs='expected_tool_calls: [{name: "a_tool", args: {}}]',
                off=_NO_STEPS if has_steps is False else "",
            ),
        )
    return (_FACTS,)


def render_config(
    agent: Mapping[str, Json], dataset: str, graders: tuple[Grading, ...], branch: str | None
) -> str:
    """gate.yml. `agent`: the keys of its section."""
    return "\n".join([*_config(agent, dataset, graders, branch), ""])


def _config(
    agent: Mapping[str, Json], dataset: str, graders: tuple[Grading, ...], branch: str | None
) -> Iterator[str]:
    yield f"# yaml-language-server: $schema={SCHEMA}"
    yield "# What `gate run` measures. `gate validate` checks this file; every key: docs/config.md."
    yield "version: 1"
    yield ""
    yield "agent:"
    for key, value in agent.items():
        yield f"  {key}: {_inline(value)}"
    if "api_key_env" not in agent and agent["type"] not in ("command", "python"):
        yield "  # api_key_env: MY_API_KEY   # the name of a variable; the key never stands here"
    yield ""
    yield "suites:"
    yield "  - name: questions"
    yield f"    dataset: {dataset}"
    yield "    graders:"
    for one in graders if any(not one.off for one in graders) else (*graders, _ANY_ANSWER):
        if one.off:
            yield f"      # {one.off}"
        yield f"      {'# ' if one.off else ''}- {one.grader}  # {one.about}"
    yield "    rounds: 3  # each question is asked three times: agents answer differently each time"
    yield ""
    yield "# Limits block by themselves. Set them once you know what the agent can do: `gate plan`"
    yield "# says which ones chance alone would break."
    yield "# gates:"
    yield "#   agent.success_rate: {min: 0.8}"
    yield ""
    yield "# Compared with the base branch: a larger drop than this that is not chance blocks."
    yield "regression:"
    yield "  tolerance: 0.02"
    yield ""
    yield "baseline:"
    if branch:
        yield f"  branch: {json.dumps(branch)}  # pull requests go to it, and follow its rules"
    yield "  answers: repo  # its answers are kept in baselines/, shown beside new ones; artifact:"
    yield "                 # only with the baseline that a workflow stores; off: nowhere"


# What is worth asking first, one question each.
_HINTS = (
    "The question that your users ask most.",
    "One whose right answer is a number or a date.",
    "One that went wrong before.",
    "The first question in other words, as a user in a hurry writes it.",
    "One that needs two pieces of information.",
    "One that your agent must not answer; what has to be in its refusal?",
    "One about something that your agent cannot know.",
    "One that a new version is likely to break.",
)


def render_dataset(graders: tuple[Grading, ...]) -> str:
    """Eight cases to fill in; none of them runs before its `status` is deleted."""
    return "\n".join([*_cases(graders), ""])


def _cases(graders: tuple[Grading, ...]) -> Iterator[str]:
    yield "# Your questions. For each: write the question and what a right answer has to say, then"
    yield "# delete its line `status: proposed`. `gate run` asks only questions without that line;"
    yield "# any number is compared; with fewer than about 30 only large drops are seen."
    yield "# More keys: docs/datasets.md."
    for number, hint in enumerate(_HINTS, start=1):
        yield ""
        yield f"# {hint}"
        yield f"- id: question-{number}"
        yield "  status: proposed"
        yield '  input: "..."'
        for one in graders:
            if one.needs:
                yield f"  {'# ' if one.off else ''}{one.needs}"


def render_adapter() -> str:
    """The function that asks a LangGraph graph."""
    return '''"""How Agent Gate asks the graph: from a case to the graph's last state."""

from my_agent import graph  # the compiled graph of your project


def ask(case):
    """The state has the messages with all tool calls: Agent Gate reads the steps from them."""
    return graph.invoke({"messages": [{"role": "user", "content": case["input"]}]})
'''


def _inline(value: Json) -> str:
    """A value on one line of YAML."""
    if isinstance(value, str):
        return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_inline(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether it needs no quotes: letters, digits and a few signs, and no word of YAML."""
    signs = text.translate({ord(sign): None for sign in "/.-_"})
    is_word = signs.isalnum() and signs.isascii() and not signs[0].isdigit()
    return is_word and text.lower() not in _WORDS


_WORDS = ("true", "false", "null", "yes", "no", "on", "off")
