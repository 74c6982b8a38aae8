"""Questions of a promptfoo configuration, with the checks and the agent that have an equal here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gate.commands.new_project.first_suite import Grading, Questions
from gate.errors import UsageError
from gate.files.json_values import as_object
from gate.importers.formats.promptfoo.assertions import GRADERS
from gate.importers.formats.promptfoo.config import config_in
from gate.records import Json
from gate.run.importing.run import case_lines, choose_reader
from gate.text.figures import count
from gate.text.late_pattern import late_pattern
from gate.text.shortening import shorten

_NO_WORD = late_pattern(r"[\W_]+")
_LONGEST = 60  # characters of an id
_OPENAI = late_pattern(r"openai:(?:(?:chat|responses):)?(?P<model>[^:\s]+)")
_KINDS = ("chat", "responses", "completion", "embedding", "image", "realtime", "moderation")


def read_promptfoo_questions(path: Path) -> Questions:
    """Raises UsageError for results, which have no tests."""
    _, importer = choose_reader("promptfoo", path, ())
    imported = importer.read(path)
    if imported.cases is None:
        raise UsageError(
            f"{path}: holds results, not tests; give the configuration (promptfooconfig.yaml), or "
            "use `gate import promptfoo`"
        )
    cases = list(_with_slugs([json.loads(line) for line in case_lines(imported.cases(), path)]))
    keys = {key for case in cases for key, value in case.items() if value is not None}
    agent, said = _map_provider(path)
    told = (note for note in imported.notes if not note.startswith("add this to the suite"))
    return Questions(
        text="".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases),
        graders=tuple(_grader_of(GRADERS[key]) for key in GRADERS if key in keys),
        notes=(*told, *_tell_unchecked(cases), said),
        keys=frozenset(keys),
        first=cases[0]["input"],
        agent=agent,
    )


def _grader_of(written: str) -> Grading:
    """`{regex: {key: patterns}}` as an item of a list: `regex: {key: patterns}`."""
    item = written[1:-1] if written.startswith("{") else written
    off = "needs a `judge` in this file: docs/judge.md" if item.startswith("judge") else ""
    return Grading(grader=item, about="from the assertions", off=off)


def _with_slugs(cases: Sequence[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    """The cases with ids that can be typed: `Capital of France?` is `capital-of-france`."""
    taken: set[str] = set()
    for case in cases:
        words = _NO_WORD.sub("-", str(case["id"]).lower()).strip("-")
        slug = words[:_LONGEST].strip("-") or "case"
        name, number = slug, 1
        while name in taken:
            number += 1
            name = f"{slug}-{number}"
        taken.add(name)
        yield {**case, "id": name}


def _tell_unchecked(cases: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Cases that no grader judges, and those that wait for a judge."""
    checks = {id(case): {key for key in GRADERS if case.get(key) is not None} for case in cases}
    silent = [str(case["id"]) for case in cases if not checks[id(case)]]
    if silent:
        yield (
            f"{count(len(silent), 'case')} without any check, so that nothing says whether the "
            f"answer is right: {shorten(', '.join(silent), 200)}; write what you expect "
            "(docs/graders.md)"
        )
    waiting = [str(case["id"]) for case in cases if checks[id(case)] == {"rubric"}]
    if waiting:
        yield (
            f"{count(len(waiting), 'case')} checked by a rubric alone, which needs a `judge` in "
            f"gate.yml (docs/judge.md): {shorten(', '.join(waiting), 200)}"
        )


def _map_provider(path: Path) -> tuple[Mapping[str, str], str]:
    """The options of `gate init` for the only provider, and what is to be said of it."""
    config = config_in(path)
    data = as_object(config.data) if config else {}
    written = data.get("providers") or data.get("targets")
    listed = written if isinstance(written, list) else [written] if written else []
    one = listed[0] if len(listed) == 1 else None
    name = one.get("id") if isinstance(one, dict) and set(one) <= {"id", "label"} else one
    if isinstance(name, str):
        found = _OPENAI.fullmatch(name)
        if found and found["model"] not in _KINDS:
            options = {"agent": "openai", "model": found["model"]}
            more = {"base_url": "https://api.openai.com", "api_key_env": "OPENAI_API_KEY"}
            return {**options, **more}, f"the agent is the provider {name}, unless you name another"
        if re.match(r"https?://", name):
            said = "the agent is the provider's address, unless you name another"
            return {"agent": "http", "base_url": name}, said
    number = count(len(listed), "provider")
    return {}, f"{number} of the configuration not taken over: name your agent in gate.yml"
