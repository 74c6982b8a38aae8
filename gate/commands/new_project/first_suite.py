"""gate.yml and a dataset for an agent of the user's own: text in which every line is explained, and
in which nothing can fail before the user has written a case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gate.commands.new_project.inline_yaml import inline
from gate.records import Json
from gate.suites.cases.keys import DOCUMENT, FACT, QUESTION, TOOL

SCHEMA = ".gate/config.schema.json"
DATASET = "datasets/questions.yaml"
TEMPLATES = ("chat", "rag", "tools", "langgraph")
ADAPTER = "gate_agent.py"  # of a Python agent that nobody has named


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """A grader of the template, as gate.yml has it. `needs`: a line of each case for it. `off`: why
    it does not fit yet; empty: it is on.
    """

    grader: str
    about: str
    needs: str = ""
    off: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """A dataset, the graders that its keys need, and what was left out. `ready`: cases that run as
    they are; else they are to be filled in. `keys`: those that some case has. `first`: the first
    question.
    `agent`: options of `gate init` for the agent that was asked them so far, if it is known.
    """

    text: str
    graders: tuple[Grading, ...]
    notes: tuple[str, ...] = ()
    file: str = "datasets/questions.jsonl"
    ready: bool = True
    keys: frozenset[str] = frozenset()
    first: Json = ""
    agent: Mapping[str, str] = field(default_factory=dict)


_FACTS = Grading(
    grader="facts",
    about="the answer says what `expected_facts` lists: numbers or texts",
    needs=f'expected_facts: [{{value: "{FACT}"}}]',
)
_ANY_ANSWER = Grading(grader="regex: {pattern: '\\S'}", about="there is an answer at all")
_NO_DOCUMENTS = (
    "no answer named documents yet: if the agent reports them, add their path to `agent`"
)
_NO_TEXTS = "no answer had texts to check numbers against yet: `agent.response.context`"
_NO_STEPS = "no answer had tool calls yet: if the agent reports them, add their path to `agent`"


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
                needs=f'relevant_doc_ids: ["{DOCUMENT}"]',
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
                needs=f'expected_tool_calls: [{{name: "{TOOL}", args: {{}}}}]',
                off=_NO_STEPS if has_steps is False else "",
            ),
        )
    return (_FACTS,)


def render_config(
    agent: Mapping[str, Json],
    dataset: str,
    graders: tuple[Grading, ...],
    branch: str | None,
    *,
    artifact: str = "",
) -> str:
    """gate.yml. `agent`: the keys of its section. `artifact`: with the baseline; empty: the usual
    one.
    """
    return "\n".join([*_config(agent, dataset, graders, branch, artifact), ""])


def _config(
    agent: Mapping[str, Json],
    dataset: str,
    graders: tuple[Grading, ...],
    branch: str | None,
    artifact: str,
) -> Iterator[str]:
    yield f"# yaml-language-server: $schema={SCHEMA}"
    yield "# What `gate run` measures. `gate validate` checks this file; every key: docs/config.md."
    yield "version: 1"
    yield ""
    yield "agent:"
    for key, value in agent.items():
        yield f"  {key}: {inline(value)}"
    if agent["type"] == "http" and "body" not in agent:
        yield "  # What your agent is sent, and where its reply has the answer: docs/agents.md#http"
        yield '  # body: {question: "{{input}}"}'
        yield "  # response: {answer: answer}"
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
    yield "# Compared with the base branch: a larger drop, unless chance explains it, blocks the"
    yield "# pull request."
    yield "regression:"
    yield "  tolerance: 0.02"
    yield ""
    yield "baseline:"
    if branch:
        yield "  # Pull requests are compared with this branch and judged by its rules."
        yield f"  branch: {inline(branch)}"
    if artifact:
        yield f"  artifact: {artifact}  # another project of the repository has gate-baseline"
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
        yield f'  input: "{QUESTION}"'
        for one in graders:
            if one.needs:
                yield f"  {'# ' if one.off else ''}{one.needs}"


def render_adapter(template: str) -> str:
    """The file with the function that asks the agent, to be filled in."""
    return _LANGGRAPH if template == "langgraph" else _FUNCTION


_FUNCTION = '''"""How Agent Gate asks your agent: from a question to its answer."""


def ask(question):
    """Call your agent here. Return its answer as a text, or as an object that also says what it
    retrieved and which tools it called (docs/agents.md of Agent Gate).
    """
    raise RuntimeError("gate_agent.py: call your agent in the function ask")
'''
_LANGGRAPH = '''"""How Agent Gate asks the graph: from a case to the graph's last state."""

from my_agent import graph  # the compiled graph of your project


def ask(case):
    """The state has the messages with all tool calls: Agent Gate reads the steps from them."""
    return graph.invoke({"messages": [{"role": "user", "content": case["input"]}]})
'''
