"""A promptfoo configuration as cases: its tests with their variables in one of its prompts."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice, product
from pathlib import Path, PurePosixPath

from gate.agents.traces.values import at
from gate.errors import Place, Problem, UsageError
from gate.files.csv_rows import read_csv
from gate.files.encoding import decode
from gate.files.json_rows import read_cases
from gate.files.json_stream import decode_json
from gate.files.json_values import as_list, as_object, as_strings, string_or_none
from gate.files.plain import files_below, plain
from gate.files.problems import Findings, refuse_file
from gate.files.sniff import look
from gate.files.yaml import YamlDocument, yaml_of
from gate.importers.formats.promptfoo import evaluation
from gate.importers.formats.promptfoo.assertions import GRADERS, map_assertions
from gate.importers.trials.build import ToolSuite, import_cases
from gate.importers.trials.names import CaseIds, mark
from gate.records import Case, CheckedJson, Json
from gate.records.imported import Imported
from gate.text.figures import count
from gate.text.shortening import tidy

NAMES = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json")
_TOO_LARGE = "larger than 64 MB - split it"
_OF_A_CONFIG = {"prompts", "providers", "targets", "tests", "scenarios", "defaultTest"}


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


def config_in(path: Path) -> YamlDocument | None:
    """The configuration at the path, or None. Raises UsageError, InvalidInput."""
    if path.is_dir():
        inside = [path / name for name in NAMES if (path / name).exists()]
        if not inside:
            raise UsageError(f"{path}: has no {NAMES[0]}; give one, or a file with results")
        path = inside[0]
    if plain(path).name.lower().endswith(evaluation.LINES) or look(path).has("results"):
        return None
    large = plain(path).stat().st_size > evaluation.MOST_YAML
    if not path.name.lower().endswith(evaluation.YAML if large else (*evaluation.YAML, ".json")):
        return None
    document = yaml_of(path, evaluation.MOST_YAML, _TOO_LARGE)
    keys = as_object(document.data).keys()
    return document if _OF_A_CONFIG & keys and not evaluation.is_results(document.data) else None


def tests_of(config: YamlDocument, prompt: str) -> Imported:
    """Raises InvalidInput with everything that is wrong with its tests."""
    built = _built(config, prompt)
    return import_cases(
        tuple(built.files),
        lambda: iter(_built(config, prompt).cases),
        tool=evaluation.TOOL,
        agent=evaluation.TOOL,
        notes=tuple(_notes(built, prompt)),
    )


def _built(config: YamlDocument, wanted: str) -> _Built:
    problems, built = Findings(), _Built(files={Path(config.file): None})
    template = _prompt(config, wanted, built, problems)
    problems.refuse()
    written_tests = list(_Reading(config, built.files, problems).written_tests())
    if not written_tests and not problems:
        problems.add(Place(config.file, None, "tests"), "has no test - write one")
    own = [evaluation.identify_test(one.data, one.vars, one.asserts) for one in written_tests]
    ids = CaseIds(own)
    seen: set[str] = set()
    for written, test in zip(written_tests, own, strict=True):
        case_id = ids.of(test)
        built.same += case_id in seen
        if case_id not in seen:
            seen.add(case_id)
            _add(built, written, case_id, template, problems)
    problems.refuse()
    for n, case in enumerate(built.cases):  # null tells a grader that a key does not apply
        keys = {**dict.fromkeys(sorted(built.keys)), **case.keys}
        built.cases[n] = replace(case, keys=keys, digest=mark(case.input, keys))
    return built


def _add(built: _Built, test: WrittenTest, case_id: str, template: str, problems: Findings) -> None:
    around = as_object(test.data.get("options"))
    whole = f"{around.get('prefix') or ''}{template}{around.get('suffix') or ''}"
    asked = _input(whole, test.vars)
    if asked in (None, "", []):
        what = "has template code (a filter, a loop or env)" if asked is None else "is empty"
        message = f"its prompt {what}, so the question is unknown"
        problems.add(test.place, f"{message}; write the question into the test's vars")
        return
    built.without.update(evaluation.unknown(whole, test.vars))
    mapped = map_assertions(
        test.asserts, test.vars, threshold=test.data.get("threshold") is not None
    )
    built.left.update(mapped.left)
    built.keys |= mapped.keys.keys()
    metadata = as_object(test.data.get("metadata"))
    if mapped.left:
        metadata = {**metadata, "not_mapped": dict(mapped.left)}
    built.cases.append(
        ToolSuite(evaluation.TOOL, evaluation.TOOL).case(
            case_id,
            input=asked,
            keys={**mapped.keys, **({"metadata": metadata} if metadata else {})},
            category=string_or_none(metadata.get("category"), 200),
            tags=as_strings(metadata.get("tags")),
        )
    )


def _input(template: str, known: Mapping[str, Json]) -> Json:
    """A text; or messages, where the prompt is JSON of such. None: it cannot be rendered."""
    messages: Json = None
    with suppress(ValueError, RecursionError):
        messages = decode_json(template.strip()) if template.lstrip().startswith("[") else None
    if not isinstance(messages, list) or not all("role" in as_object(one) for one in messages):
        return evaluation.render_template(template, known)
    with suppress(ValueError):
        return evaluation.within(messages, known)
    return None


def _prompt(config: YamlDocument, wanted: str, built: _Built, problems: Findings) -> str:
    """The template asked for, by number or label, or the first."""
    place = config.place(("prompts",))
    prompts: list[tuple[str, str]] = []
    with problems.taking(place):
        prompts += _prompts(config, built)
        if not prompts:
            problems.add(place, "has no prompt - write one, or give a file that has one")
    built.prompts = len(prompts)
    if problems:
        return ""
    if not wanted:
        return prompts[0][1]
    fitting = [raw for n, (label, raw) in enumerate(prompts, 1) if wanted in (str(n), label)]
    if not fitting:
        known = ", ".join(f"{n} ({tidy(label, 30)})" for n, (label, _) in enumerate(prompts, 1))
        raise UsageError(f"--option prompt={wanted[:80]}: not found; choose one of {known}")
    return fitting[0]


def _prompts(config: YamlDocument, built: _Built) -> Iterator[tuple[str, str]]:
    """Label and template of each; without any promptfoo asks `{{prompt}}`."""
    written = as_object(config.data).get("prompts")
    listed = written if isinstance(written, list) else [written] if written else ["{{prompt}}"]
    for item in listed:
        raw = (item.get("raw") or item.get("id")) if isinstance(item, dict) else item
        label = item.get("label") if isinstance(item, dict) else ""
        if not isinstance(raw, str) or not raw.strip():
            raise UsageError("a prompt must be a text or a file://; code is not supported")
        if not raw.startswith(SCHEME):
            yield str(label or ""), raw
            continue
        for path in find_referenced(Path(config.file).parent, raw):
            built.files[path] = None
            text = text_of(path)
            parts = text.split("\n---\n") if path.suffix == ".txt" else [text]
            yield from ((str(label or path.name), part.strip()) for part in parts if part.strip())


def _notes(built: _Built, prompt: str) -> Iterator[str]:
    yield f"{len(built.cases)} cases of a promptfoo configuration"
    if built.keys:
        graders = ", ".join(GRADERS[key] for key in GRADERS if key in built.keys)
        yield f"add this to the suite in gate.yml: graders: [{graders}]"
    if built.left:
        counts = ", ".join(f"{n} {kind}" for kind, n in sorted(built.left.items()))
        yield (
            f"{built.left.total()} assertions have no equivalent in Agent Gate and are left "
            f"out: {counts}"
        )
    if built.prompts > 1 and not prompt:
        yield f"used the first of {built.prompts} prompts; choose another with --option prompt=N"
    if built.same:
        yield f"{count(built.same, 'test')} left out, because an earlier one is the same"
    if built.without:
        names = ", ".join(sorted(built.without)[:10])
        yield f"some tests have no value for these variables, which are empty there: {names}"


# -------------------------------------------------------------------------------------------- tests


_TYPED = re.compile(r"(not-)?([a-z][a-z0-9:-]*?)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?")
_CODE_CELLS = ("javascript:", "fn:", "eval:", "python:", "file://")
# Types that a cell may begin with; any other text is what the answer equals.
_TYPES = re.compile(
    r"equals|i?contains(-all|-any)?|(is|contains)-(json|xml|html|sql)|starts-with|regex|is-refusal"
    r"|latency|cost|perplexity(-score)?|levenshtein|similar(:\w+)?|rouge-n|bleu|gleu|meteor|pi"
    r"|classifier|moderation|webhook|ruby|guardrails|(model-graded-)?factuality|g-eval|word-count"
    r"|model-graded-closedqa|answer-relevance|context-(recall|relevance|faithfulness)"
    r"|conversation-relevance|finish-reason|(llm|search|agent)-rubric|skill-used|tool-call-f1"
    r"|is-valid-(function|openai-function|openai-tools)-call|(trace|trajectory)[:-][\w-]+"
)


def test_of(row: Mapping[str, CheckedJson]) -> dict[str, Json]:
    """The test that promptfoo makes of it."""
    test: dict[str, CheckedJson] = {"vars": {}, "assert": [], "metadata": {}, "options": {}}
    for key, cell in row.items():
        if key.startswith("__expected"):
            if cell.strip():
                test["assert"].append(_assertion(cell.strip()))
        elif key.startswith("__metadata:"):
            if cell.strip():
                test["metadata"][key.removeprefix("__metadata:").removesuffix("[]")] = cell
        elif key in ("__prefix", "__suffix"):
            test["options"][key.removeprefix("__")] = cell
        elif key == "__description":
            test["description"] = cell
        elif key == "__threshold" and cell.strip():
            test["threshold"] = cell
        elif not key.startswith(("__config:", "__metric", "__provider", "__threshold")):
            test["vars"][key] = cell
    return test


def _assertion(cell: str) -> dict[str, Json]:
    if cell.startswith(_CODE_CELLS):
        kind = "python" if cell.startswith("python:") or ".py" in cell[-40:] else "javascript"
        return {"type": kind, "value": cell}
    if cell.startswith("grade:"):
        return {"type": "llm-rubric", "value": cell.removeprefix("grade:")}
    match = _TYPED.fullmatch(cell)
    if match is None or not _TYPES.fullmatch(match[2]):
        return {"type": "equals", "value": cell}
    return {"type": f"{match[1] or ''}{match[2]}", "value": (match[4] or "").strip() or None}


_Found = tuple[Place, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTest:
    """One test with what the default one adds, and one value for each variable."""

    place: Place
    data: Mapping[str, Json]
    vars: Mapping[str, Json]
    asserts: Sequence[Json]


@dataclass(frozen=True, slots=True)
class _Reading:
    """`files` and `problems` are added to."""

    document: YamlDocument
    files: dict[Path, None]
    problems: Findings

    def written_tests(self) -> Iterator[WrittenTest]:
        default = self._default()
        count = 0
        for place, one in self._tests():
            if not isinstance(one, dict):
                what = "a test must be a mapping, or name a file with tests"
                self.problems.add(place, what)
                continue
            for found in self._expand_vars(place, _merge_tests(default, one)):
                count += 1
                if count > MOST_TESTS:
                    what = f"more than {MOST_TESTS:,} tests - split the configuration"
                    self.problems.add(place, what)
                    return
                yield found

    def _tests(self) -> Iterator[_Found]:
        data = as_object(self.document.data)
        written = data.get("tests")
        for n, one in enumerate(written if isinstance(written, list) else [written]):
            key = ("tests", n) if isinstance(written, list) else ("tests",)
            path = one.get("path") if isinstance(one, dict) else one
            if isinstance(path, str):
                yield from self._beside(self.document.place(key), path)
            elif one is not None:
                yield self.document.place(key), one
        for n, one in enumerate(as_list(data.get("scenarios"))):
            yield from self._scenario(self.document.place(("scenarios", n)), as_object(one))

    def _beside(self, place: Place, reference: str) -> Iterator[_Found]:
        with self.problems.taking(place):
            for path in self._find(reference):
                yield from self.problems.keep_good(tests_in(path))

    def _find(self, reference: str) -> tuple[Path, ...]:
        found = find_referenced(Path(self.document.file).parent, reference)
        self.files.update(dict.fromkeys(found))
        return found

    def _scenario(self, place: Place, data: Mapping[str, Json]) -> Iterator[_Found]:
        """Each of its tests with each of its sets of variables."""
        sets, inner = data.get("config"), data.get("tests")
        if not isinstance(sets, list) or not isinstance(inner, list):
            self.problems.add(place, "a scenario must have the lists `config` and `tests`")
            return
        for base, test in product(sets, inner):
            yield place, _merge_tests(as_object(base), test)

    def _default(self) -> Mapping[str, Json]:
        written = as_object(self.document.data).get("defaultTest")
        if isinstance(written, str):
            tests = list(self._beside(self.document.place(("defaultTest",)), written))
            written = tests[0][1] if tests else None
        return as_object(written)

    def _expand_vars(self, place: Place, test: Mapping[str, CheckedJson]) -> Iterator[WrittenTest]:
        """A variable with a list of texts makes a test of each."""
        known = {key: self._value(place, one) for key, one in test["vars"].items()}
        single = test["options"].get("disableVarExpansion") is True
        choices = [
            value if not single and isinstance(value, list) and as_strings(value[:1]) else [value]
            for value in known.values()
        ]
        asserts = [self._deref(place, one) for one in test["assert"]]
        for values in islice(product(*choices), MOST_TESTS + 1):
            own = dict(zip(known, values, strict=True))
            yield WrittenTest(place=place, data=test, vars=own, asserts=asserts)

    def _deref(self, place: Place, one: Json) -> Json:
        """What `$ref: "#/assertionTemplates/x"` means."""
        reference = one.get("$ref") if isinstance(one, dict) else None
        if not isinstance(reference, str):
            return one
        value = at(self.document.data, *reference.removeprefix("#/").split("/"))
        if value is None or not reference.startswith("#/"):
            self.problems.add(place, f"$ref {reference[:80]!a}: not found in this file")
        return value

    def _value(self, place: Place, one: Json) -> Json:
        """A variable's value: the text of the file that it names."""
        if not isinstance(one, str) or not one.startswith(SCHEME):
            return one
        texts: list[Json] = []
        with self.problems.taking(place):
            texts += [text_of(path).strip() for path in self._find(one)]
        return texts[0] if len(texts) == 1 else texts or ""


def _merge_tests(default: Mapping[str, Json], one: Json) -> dict[str, Json]:
    """Assertions of both, those of the default first; of variables and options the test's own."""
    own = as_object(one)
    merged = {**default, **own}
    for key in ("vars", "options", "metadata"):
        merged[key] = {**as_object(default.get(key)), **as_object(own.get(key))}
    alone = as_object(own.get("options")).get("disableDefaultAsserts") is True
    first = [] if alone else as_list(default.get("assert"))
    return {**merged, "assert": [*first, *as_list(own.get("assert"))]}


# --------------------------------------------------------------------------------- referenced files


SCHEME = "file://"
_MOST_BYTES = 64 << 20  # bytes of one file
MOST_TESTS = 1_000_000
_GLOB = "*?["
_CODE_FILES = (".js", ".cjs", ".mjs", ".ts", ".py", ".rb", ".xlsx", ".xls")


def find_referenced(folder: Path, reference: str) -> tuple[Path, ...]:
    """The files it names, inside the folder. Raises UsageError for links, addresses and code."""
    name = reference.removeprefix(SCHEME)
    parts = PurePosixPath(name).parts
    if "://" in name:
        raise UsageError(f"{name[:120]}: remote files are not fetched; save it as CSV")
    outside = not parts or name.startswith(("/", "~")) or ".." in parts or ":" in name
    if outside or "\\" in name or "\0" in name:
        raise UsageError(
            f"{name[:120]!a}: is outside the configuration's folder; copy it into that folder "
            "and correct the path"
        )
    if PurePosixPath(name).suffix.lower() in _CODE_FILES:
        raise UsageError(f"{name[:120]}: code and workbooks are not read; export it as CSV")
    if any(sign in name for sign in _GLOB):
        below = {path.relative_to(folder).as_posix(): path for path in files_below(folder)}
        fitting = tuple(path for inner, path in below.items() if fnmatchcase(inner, name))
        if not fitting:
            raise UsageError(f"{folder}: no file matches {name[:120]!a}")
        return fitting
    path = folder / name
    if path.resolve() != folder.resolve().joinpath(*parts):
        raise UsageError(f"{path}: symbolic links are not followed; copy the file")
    return (_check_size(path),)


def text_of(path: Path) -> str:
    """Raises InvalidInput for what is not UTF-8."""
    return decode(_check_size(path).read_bytes(), path.as_posix())


def tests_in(path: Path) -> Iterator[tuple[Place, Json] | Problem]:
    """Tests of a CSV, JSON, JSON Lines or YAML file."""
    name, suffix = path.as_posix(), path.suffix.lower()
    if suffix == ".csv":
        lines = io.StringIO(text_of(path), newline="")
        for read in read_csv(lines, name, unnamed=True):
            yield read if isinstance(read, Problem) else (read[0], test_of(read[1]))
    elif suffix in evaluation.YAML:
        document = yaml_of(path, _MOST_BYTES, _TOO_LARGE)
        listed = document.data if isinstance(document.data, list) else [document.data]
        yield from ((document.place((n,)), one) for n, one in enumerate(listed))
    else:
        with _check_size(path).open("rb") as stream:
            for row in read_cases(stream, name):
                yield row if isinstance(row, Problem) else (Place(name, row.line), row.data)


def _check_size(path: Path) -> Path:
    if plain(path).stat().st_size > _MOST_BYTES:
        refuse_file(path, _TOO_LARGE)
    return path
