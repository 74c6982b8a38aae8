"""A promptfoo configuration as cases: its tests with their variables in one of its prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files import yaml as yamlfile
from gate.files.json_stream import decode_json
from gate.files.json_values import as_object, as_strings, string_or_none
from gate.files.plain import plain
from gate.files.problems import Findings
from gate.files.sniff import look
from gate.importers.formats.promptfoo.assertions import GRADERS, map_assertions
from gate.importers.formats.promptfoo.evaluation import LINES, MOST_YAML, TOOL, YAML, is_results
from gate.importers.formats.promptfoo.naming import identify_test
from gate.importers.formats.promptfoo.referenced_files import SCHEME, find_referenced, text_of
from gate.importers.formats.promptfoo.templates import render_template, unknown, within
from gate.importers.formats.promptfoo.tests import WrittenTest, tests
from gate.importers.trials.build import case_of, import_cases
from gate.importers.trials.case_ids import CaseIds, mark
from gate.records import Case, Json
from gate.records.imported import Imported
from gate.text.escaping import one_line

NAMES = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json")
_OF_A_CONFIG = {"prompts", "providers", "targets", "tests", "scenarios", "defaultTest"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptfooConfig:
    """`document` has the lines."""

    path: Path
    document: yamlfile.YamlDocument = field(repr=False)

    @property
    def data(self) -> Mapping[str, Json]:
        return as_object(self.document.data)


@dataclass(slots=True, kw_only=True)
class _Built:
    """Cases, and what is to be told of them."""

    cases: list[Case] = field(default_factory=list)
    files: dict[Path, None] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)
    without: Counter[str] = field(default_factory=Counter)  # variables that have no value
    same: int = 0
    prompts: int = 1


def config_in(path: Path) -> PromptfooConfig | None:
    """The configuration that the path is, or the folder has; None: it is none. Raises UsageError,
    InvalidInput.
    """
    if path.is_dir():
        inside = [path / name for name in NAMES if (path / name).exists()]
        if not inside:
            raise UsageError(f"{path}: no {NAMES[0]} in it; name a file with results")
        path = inside[0]
    if plain(path).name.lower().endswith(LINES) or look(path).has("results"):
        return None
    if plain(path).stat().st_size > MOST_YAML:
        if path.name.lower().endswith(YAML):
            raise InvalidInput([Problem(Place(path.as_posix()), "larger than 64 MB - split it")])
        return None
    if not path.name.lower().endswith((*YAML, ".json")):
        return None
    document = yamlfile.parse(path.read_bytes(), path.as_posix())
    data = document.data
    if is_results(data) or not isinstance(data, dict) or not _OF_A_CONFIG & data.keys():
        return None
    return PromptfooConfig(path=path, document=document)


def tests_of(config: PromptfooConfig, prompt: str) -> Imported:
    """Raises InvalidInput with everything that is wrong with its tests."""
    built = _built(config, prompt)
    return import_cases(
        tuple(built.files),
        lambda: iter(_built(config, prompt).cases),
        tool=TOOL,
        agent=TOOL,
        notes=tuple(_notes(built, prompt)),
    )


def _built(config: PromptfooConfig, wanted: str) -> _Built:
    problems, built = Findings(), _Built(files={config.path: None})
    template = _prompt(config, wanted, built, problems)
    problems.refuse()
    found = list(tests(config.document, config.path.parent, built.files, problems))
    if not found and not problems:
        problems.add(Place(config.path.as_posix(), None, "tests"), "no test in it")
    own = [identify_test(one.data, one.vars, one.asserts) for one in found]
    ids = CaseIds(own)
    seen: set[str] = set()
    for written, test in zip(found, own, strict=True):
        case_id = ids.of(test)
        built.same += case_id in seen
        if case_id not in seen:
            seen.add(case_id)
            _add(built, written, case_id, template, problems)
    problems.refuse()
    _fill(built)
    return built


def _add(built: _Built, test: WrittenTest, case_id: str, template: str, problems: Findings) -> None:
    around = as_object(test.data.get("options"))
    whole = f"{around.get('prefix') or ''}{template}{around.get('suffix') or ''}"
    asked = _input(whole, test.vars)
    if asked in (None, "", []):
        what = "has more than variables (filters, loops, env)" if asked is None else "is empty"
        problems.add(test.place, f"its prompt {what}; write the question into the test's vars")
        return
    built.without.update(unknown(whole, test.vars))
    found = map_assertions(
        test.asserts, test.vars, threshold=test.data.get("threshold") is not None
    )
    built.left.update(found.left)
    built.keys |= found.keys.keys()
    told = as_object(test.data.get("metadata"))
    kept: dict[str, Json] = {"metadata": {**told, "not_mapped": dict(found.left)}}
    built.cases.append(
        case_of(
            TOOL,
            TOOL,
            case_id,
            input=asked,
            keys={**found.keys, **(kept if found.left else {"metadata": told} if told else {})},
            category=string_or_none(told.get("category"), 200),
            tags=as_strings(told.get("tags")),
        )
    )


def _fill(built: _Built) -> None:
    """null says that a key does not apply to a case; a grader wants to be told so."""
    for n, case in enumerate(built.cases):
        keys = {**dict.fromkeys(sorted(built.keys)), **case.keys}
        built.cases[n] = case_of(
            TOOL,
            TOOL,
            case.id,
            input=case.input,
            keys=keys,
            category=case.category,
            tags=case.tags,
            digest=mark(case.input, keys),
        )


def _input(template: str, known: Mapping[str, Json]) -> Json:
    """A text; or messages, where the prompt is JSON of such. None: it cannot be rendered."""
    try:
        messages = decode_json(template.strip()) if template.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        messages = None
    roles = isinstance(messages, list) and all(
        isinstance(message, dict) and "role" in message for message in messages
    )
    try:
        return within(messages, known) if roles else render_template(template, known)
    except ValueError:
        return None


# ------------------------------------------------------------------------------------- the prompt


def _prompt(config: PromptfooConfig, wanted: str, built: _Built, problems: Findings) -> str:
    """The template asked for, by number or label, or the first."""
    place = config.document.place(("prompts",))
    try:
        found = list(_prompts(config, built))
    except UsageError as error:
        problems.take(*getattr(error, "problems", [Problem(place, str(error))]))
        return ""
    built.prompts = len(found)
    if not found:
        problems.add(place, "no prompt in it - write one, or name a file that has one")
        return ""
    if not wanted:
        return found[0][1]
    fitting = [raw for n, (label, raw) in enumerate(found, 1) if wanted in (str(n), label)]
    if not fitting:
        told = ", ".join(f"{n} ({one_line(label, 30)})" for n, (label, _) in enumerate(found, 1))
        raise UsageError(f"--option prompt={wanted[:80]}: there is none; the prompts are {told}")
    return fitting[0]


def _prompts(config: PromptfooConfig, built: _Built) -> Iterator[tuple[str, str]]:
    """Label and template of each; without any promptfoo asks `{{prompt}}`."""
    written = config.data.get("prompts")
    listed = written if isinstance(written, list) else [written] if written else ["{{prompt}}"]
    for one in listed:
        raw = (one.get("raw") or one.get("id")) if isinstance(one, dict) else one
        label = one.get("label") if isinstance(one, dict) else ""
        if not isinstance(raw, str) or not raw.strip():
            raise UsageError("a prompt must be a text or a file://; code cannot be read")
        if not raw.startswith(SCHEME):
            yield str(label or ""), raw
            continue
        for path in find_referenced(config.path.parent, raw):
            built.files[path] = None
            text = text_of(path)
            parts = text.split("\n---\n") if path.suffix == ".txt" else [text]
            yield from ((str(label or path.name), part.strip()) for part in parts if part.strip())


def _notes(built: _Built, prompt: str) -> Iterator[str]:
    yield f"{len(built.cases)} cases of a promptfoo configuration"
    if built.keys:
        graders = ", ".join(GRADERS[key] for key in GRADERS if key in built.keys)
        yield f"for the suite in gate.yml: graders: [{graders}]"
    if built.left:
        counts = ", ".join(f"{n} {kind}" for kind, n in sorted(built.left.items()))
        yield f"{built.left.total()} assertions have no equal here and are left out: {counts}"
    if built.prompts > 1 and not prompt:
        yield f"the first of {built.prompts} prompts; --option prompt=N takes another"
    if built.same:
        yield f"{built.same} tests are there more than once: one case each"
    if built.without:
        names = ", ".join(sorted(built.without)[:10])
        yield f"variables without a value in some tests are empty there, as in promptfoo: {names}"
