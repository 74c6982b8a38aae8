"""Tasks that ask for a JSON report on what tools did: OpenAgent's suites `tool` and `hardchat`.

What the agent's own tools can do is done and reported as it was. Anything else (the web, a shell, a
browser, work in stages) is declined in one sentence, with no evidence, unless the fault `invent`
makes it up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from gate.agents.sample_agent.bm25 import Index
from gate.agents.sample_agent.files import TOOLS, FileTools
from gate.records import Json, ToolCall

_FORM = re.compile(r'\{\s*"task_id"')
_LEFT_OUT = re.compile(r"\[\s*\.\.\.\s*\]")  # "[...]", as prompts shorten lists
_NAMED = re.compile(
    r"\b(?:web_search|web_fetch|shell|browser_use(?:_[a-z_]+)?|office_\w+|local_[a-z]+_[a-z_]+)\b"
)
_TITLE = re.compile(r'\b[Tt]itle(?: is|:)\s*"([^"\n]+)"')
_SECTIONS = re.compile(r'\bsections\b[^"\n]{0,40}((?:"[^"\n]{1,80}"[^"\n]{0,9}){1,20})')
_PATH = re.compile(r"\bpath\b[^:\n]{0,20}:[ \t]{0,9}(\S[^\n]{0,999})$", re.MULTILINE)
_LONGEST = 50_000  # characters of a prompt that is such a task
_ENTRIES = 3  # of each section
_PICKED = 3
_PREVIEW, _LIMIT, _SAMPLE = 800, 8000, 200  # characters
_MANY = 6  # entries of an invented list
_INVENTED = "As the page says, this holds in general and has been confirmed."


def form_of(text: str) -> dict[str, Json] | None:
    """The JSON object with a `task_id` that the prompt shows as the form of its answer."""
    start = _FORM.search(text)
    if not start or len(text) > _LONGEST:
        return None
    try:
        form, _ = json.JSONDecoder().raw_decode(_LEFT_OUT.sub("[]", text[start.start() :]))
    except (ValueError, RecursionError):
        return None
    return form if isinstance(form, dict) else None


def decline(form: Mapping[str, Json], why: str) -> dict[str, Json]:
    """The task's id, empty evidence where the form has some, and the reason."""
    evidence = form.get("evidence")
    report: dict[str, Json] = {"task_id": form["task_id"]}
    if isinstance(evidence, dict):
        report["evidence"] = {key: [] for key in evidence}
    return {**report, "error": why}


def report(text: str, form: Mapping[str, Json], tools: FileTools, index: Index) -> dict[str, Json]:
    """What the tools that the prompt names did, in its form."""
    named = dict.fromkeys(_NAMED.findall(text))
    lacking = [name for name in named if name not in TOOLS]
    if lacking:
        return decline(form, f"I have no {', '.join(lacking)} and did not do this task.")
    if "local_documents_scan" in named:
        facts = _scan_facts(tools)
    elif "local_text_write" in named:
        facts = _write_receipt(text, tools, index)
    else:
        return decline(form, "I answer questions and do not work through tasks in stages.")
    failed = next((step.error for step in reversed(tools.steps) if step.error), None)
    return {
        **_fill_form(form, {**facts, "tool_calls": _list_tool_results(tools.steps)}),
        **_error(failed),
    }


def invent(text: str, form: Mapping[str, Json]) -> dict[str, Json]:
    """The whole form filled with what nobody did or saw."""
    names = list(dict.fromkeys(_NAMED.findall(text))) or ["web_search"]
    calls = [
        {"name": name, "arguments": {"query": str(form["task_id"])}, "content": _INVENTED}
        for name in names * 2
    ]
    report = {key: _make_up(key, value) for key, value in form.items() if key != "task_id"}
    evidence = report.get("evidence")
    if isinstance(evidence, dict):
        evidence["tool_calls"] = calls
    return {"task_id": form["task_id"], **report}


def _scan_facts(tools: FileTools) -> dict[str, Json]:
    dirs = tools.call("local_special_dirs")
    root = dirs["documents"] if dirs else ""
    scan = tools.call("local_documents_scan", root=root, preview_chars=_PREVIEW) or []
    paths = [page["path"] for page in scan[:_PICKED]]
    read = [tools.call("local_document_read", path=path, limit=_LIMIT) for path in paths]
    pages = [page for page in read if page]
    return {
        "scanned_root": root,
        "picked": [
            {
                "path": page["path"],
                "reason": "one of the first by name",
                "text_sample": page["text"][:_SAMPLE],
            }
            for page in pages
        ],
        "themes": [page["title"] for page in pages],
        "highlights": [page["text"].split("\n")[0] for page in pages],
    }


def _write_receipt(text: str, tools: FileTools, index: Index) -> dict[str, Json]:
    path = _PATH.search(text)
    note = _note(text, index)
    receipt = tools.call(
        "local_text_write", path=path[1].strip() if path else "", text=note, overwrite=True
    )
    return dict(receipt) if receipt else {}


def _note(text: str, index: Index) -> str:
    """The title and sections that the prompt names; the entries are sentences of documents."""
    title, sections = _TITLE.search(text), _SECTIONS.search(text)
    names = re.findall(r'"([^"\n]+)"', sections[1]) if sections else ["Notes"]
    hits = index.search(text[:1000], top_k=len(names)) or ()
    parts = [f"# {title[1] if title else 'Note'}"]
    for place, name in enumerate(names):
        page = hits[place % len(hits)].page if hits else index.pages[place % len(index.pages)]
        entries = [f"- {sentence} [{page.id}]" for sentence in page.sentences()[:_ENTRIES]]
        entries += ["- Nothing more in this document."] * (_ENTRIES - len(entries))
        parts += [f"## {name}", "\n".join(entries)]
    return "\n\n".join(parts) + "\n"


def _list_tool_results(steps: Sequence[ToolCall]) -> list[Json]:
    return [
        {
            "name": step.name,
            "arguments": step.arguments,
            "content": step.error or json.dumps(step.result)[:_SAMPLE],
        }
        for step in steps
    ]


def _error(why: str | None) -> dict[str, Json]:
    return {"error": why} if why else {}


def _fill_form(form: Mapping[str, Json], facts: Mapping[str, Json]) -> dict[str, Json]:
    """The form with the facts at the keys of their names; a key without a fact is left empty."""
    filled: dict[str, Json] = {}
    for key, value in form.items():
        if key == "task_id":
            filled[key] = value
        elif key in facts:
            filled[key] = facts[key]
        elif isinstance(value, dict):
            filled[key] = _fill_form(value, facts)
        else:
            filled[key] = [] if isinstance(value, list) else None
    return filled


def _make_up(key: str, value: Json, number: int = 1) -> Json:
    """Something of the same type; `number` tells the entries of a list apart."""
    if isinstance(value, dict):
        return {inner: _make_up(inner, what, number) for inner, what in value.items()}
    if isinstance(value, list):
        sample = value[0] if value else ""
        return [_make_up("", sample, place) for place in range(1, _MANY + 1)]
    if isinstance(value, str):
        return f"https://www.example.com/study-{number}" if key == "url" else _INVENTED
    return True if isinstance(value, bool) else 42
