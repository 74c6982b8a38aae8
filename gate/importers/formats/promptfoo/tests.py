"""The tests of a configuration as they are written: in it, or in files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

from gate.errors import Place, Problem, UsageError
from gate.files import yaml as yamlfile
from gate.files.json_values import as_list, as_object
from gate.files.problems import Findings
from gate.importers.formats.promptfoo.referenced_files import (
    MOST_TESTS,
    SCHEME,
    find_referenced,
    tests_in,
    text_of,
)
from gate.records import Json

_TYPED = re.compile(r"(not-)?([a-z][a-z0-9:-]*?)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?")
_CODE = ("javascript:", "fn:", "eval:", "python:", "file://")
# Types that a cell may begin with; any other text is what the answer equals.
_TYPES = re.compile(
    r"equals|i?contains(-all|-any)?|(is|contains)-(json|xml|html|sql)|starts-with|regex|is-refusal"
    r"|latency|cost|perplexity(-score)?|levenshtein|similar(:\w+)?|rouge-n|bleu|gleu|meteor|pi"
    r"|classifier|moderation|webhook|ruby|guardrails|(model-graded-)?factuality|g-eval|word-count"
    r"|model-graded-closedqa|answer-relevance|context-(recall|relevance|faithfulness)"
    r"|conversation-relevance|finish-reason|(llm|search|agent)-rubric|skill-used|tool-call-f1"
    r"|is-valid-(function|openai-function|openai-tools)-call|(trace|trajectory)[:-][\w-]+"
)


def test_of(row: Mapping[str, str]) -> dict[str, Json]:
    """The test that promptfoo makes of it."""
    test: dict[str, Json] = {"vars": {}, "assert": [], "metadata": {}, "options": {}}
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
    if cell.startswith(_CODE):
        kind = "python" if cell.startswith("python:") or ".py" in cell[-40:] else "javascript"
        return {"type": kind, "value": cell}
    if cell.startswith("grade:"):
        return {"type": "llm-rubric", "value": cell.removeprefix("grade:")}
    found = _TYPED.fullmatch(cell)
    if found is None or not _TYPES.fullmatch(found[2]):
        return {"type": "equals", "value": cell}
    return {"type": f"{found[1] or ''}{found[2]}", "value": (found[4] or "").strip() or None}


_Found = tuple[Place, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTest:
    """One test with what the default one adds, and one value for each variable."""

    place: Place
    data: Mapping[str, Json]
    vars: Mapping[str, Json]
    asserts: Sequence[Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    document: yamlfile.YamlDocument
    folder: Path
    files: dict[Path, None]
    problems: Findings

    def tests(self) -> Iterator[_Found]:
        data = self.document.data
        written = data.get("tests")
        for n, one in enumerate(written if isinstance(written, list) else [written]):
            key = ("tests", n) if isinstance(written, list) else ("tests",)
            yield from self._test(self.document.place(key), one)
        for n, one in enumerate(as_list(data.get("scenarios"))):
            yield from self._scenario(self.document.place(("scenarios", n)), one)

    def _test(self, place: Place, one: Json) -> Iterator[_Found]:
        path = one.get("path") if isinstance(one, dict) else one
        if isinstance(path, str):
            yield from self._beside(place, path)
        elif one is not None:
            yield place, one

    def _beside(self, place: Place, reference: str) -> Iterator[_Found]:
        try:
            for path in find_referenced(self.folder, reference):
                self.files[path] = None
                yield from self.problems.keep_good(tests_in(path))
        except UsageError as error:
            self.problems.take(*getattr(error, "problems", [Problem(place, str(error))]))

    def _scenario(self, place: Place, one: Json) -> Iterator[_Found]:
        """Each of its tests with each of its sets of variables."""
        data = as_object(one)
        sets, inner = data.get("config"), data.get("tests")
        if not isinstance(sets, list) or not isinstance(inner, list):
            self.problems.add(place, "a scenario needs lists `config` and `tests` to be read")
            return
        for base, test in product(sets, inner):
            yield place, _merge_tests(as_object(base), test)

    def default(self) -> Mapping[str, Json]:
        written = self.document.data.get("defaultTest")
        if isinstance(written, str):
            found = list(self._beside(self.document.place(("defaultTest",)), written))
            written = found[0][1] if found else None
        return as_object(written)

    def deref(self, place: Place, one: Json) -> Json:
        """What `$ref: "#/assertionTemplates/x"` means."""
        reference = one.get("$ref") if isinstance(one, dict) else None
        if not isinstance(reference, str):
            return one
        value: Json = self.document.data
        for part in reference.removeprefix("#/").split("/"):
            value = value.get(part) if isinstance(value, dict) else None
        if value is None or not reference.startswith("#/"):
            self.problems.add(place, f"$ref {reference[:80]!a}: nothing of that name in this file")
        return value

    def value(self, place: Place, one: Json) -> Json:
        """A variable's value: the text of the file that it names."""
        if not isinstance(one, str) or not one.startswith(SCHEME):
            return one
        try:
            paths = find_referenced(self.folder, one)
            self.files.update(dict.fromkeys(paths))
            texts = [text_of(path).strip() for path in paths]
        except UsageError as error:
            self.problems.take(*getattr(error, "problems", [Problem(place, str(error))]))
            return ""
        return texts[0] if len(texts) == 1 else texts


def tests(
    document: yamlfile.YamlDocument, folder: Path, files: dict[Path, None], problems: Findings
) -> Iterator[WrittenTest]:
    """`files` and `problems` are added to."""
    reading = _Reading(document=document, folder=folder, files=files, problems=problems)
    default = reading.default()
    count = 0
    for place, one in reading.tests():
        if isinstance(one, dict) and "__csv__" in one:
            one = test_of(one["__csv__"])
        if not isinstance(one, dict):
            problems.add(place, "a test must be a mapping, or name a file with tests")
            continue
        test = _merge_tests(default, one)
        for found in _expand_vars(reading, place, test):
            count += 1
            if count > MOST_TESTS:
                problems.add(place, f"more than {MOST_TESTS:,} tests - split the configuration")
                return
            yield found


def _merge_tests(default: Mapping[str, Json], one: Json) -> dict[str, Json]:
    """Assertions of both, those of the default first; of variables and options the test's own."""
    own = as_object(one)
    found = {**default, **own}
    for key in ("vars", "options", "metadata"):
        found[key] = {**as_object(default.get(key)), **as_object(own.get(key))}
    alone = as_object(own.get("options")).get("disableDefaultAsserts") is True
    first = [] if alone else _listed(default.get("assert"))
    return {**found, "assert": [*first, *_listed(own.get("assert"))]}


def _expand_vars(
    reading: _Reading, place: Place, test: Mapping[str, Json]
) -> Iterator[WrittenTest]:
    """A variable with a list of texts makes a test of each."""
    known = {key: reading.value(place, one) for key, one in test["vars"].items()}
    single = test["options"].get("disableVarExpansion") is True
    choices = [
        value if isinstance(value, list) and value and not single and _texts(value) else [value]
        for value in known.values()
    ]
    asserts = [reading.deref(place, one) for one in test["assert"]]
    for values in islice(product(*choices), MOST_TESTS + 1):
        own = dict(zip(known, values, strict=True))
        yield WrittenTest(place=place, data=test, vars=own, asserts=asserts)


def _texts(values: Sequence[Json]) -> bool:
    return isinstance(values[0], str)


def _listed(value: Json) -> list[Json]:
    return as_list(value)
