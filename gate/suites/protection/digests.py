"""A hash of the grader of each column, and whether this change edits the file of the grader or
suite (docs/semantics.md 5 and 6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from gate.plugins import Grader, GraderTraits, read_traits
from gate.records import Config, Json, PluginSpec, Suite
from gate.records.codec import to_json
from gate.records.trials import TRIAL_COLUMNS
from gate.suites.config.build import RUN_RECORD
from gate.suites.config.load import code_in, code_of, grader_digest, read_user_code
from gate.suites.protection.rules import Rules
from gate.user_code.hashes import grader_file

_WHOLE = ("success", "first_success", "score")  # what every grader with an opinion bears on


def grader_digests(suite: Suite, graders: Mapping[str, Grader], rules: Rules) -> dict[str, str]:
    """Column -> hash; that of success covers all graders with an opinion."""
    each = [
        grader_digest(_as_hashed(spec, grader), rules.root, _about(spec, grader, suite, rules))
        for spec, grader in zip(suite.graders, graders.values(), strict=True)
    ]
    by_column = {
        spec.column: digest
        for grader, digest in zip(graders.values(), each, strict=True)
        for spec in grader.metrics()
    } | _digest_filled_columns(graders, each)
    graded = zip(graders.values(), each, strict=True)
    together = "+".join(
        sorted(one for grader, one in graded if read_traits(GraderTraits, grader).decides)
    )
    scored = "+".join(sorted(each))
    return {**by_column, "success": together, "first_success": together, "score": scored}


def _as_hashed(spec: PluginSpec, grader: Grader) -> PluginSpec:
    """With the options as the grader has them hashed, where it has a say in that."""
    digest_options = getattr(grader, "digest_options", None)
    return replace(spec, options=digest_options(spec.options)) if digest_options else spec


def _digest_filled_columns(graders: Mapping[str, Grader], each: Sequence[str]) -> dict[str, str]:
    """Columns of the trials themselves that several graders may fill."""
    by_column: dict[str, str] = {}
    for grader, digest in zip(graders.values(), each, strict=True):
        for column in read_traits(GraderTraits, grader).fills:
            by_column[column] = f"{by_column[column]}+{digest}" if column in by_column else digest
    return by_column


def _about(spec: PluginSpec, grader: Grader, suite: Suite, rules: Rules) -> Json:
    """What shapes its scores beside its options: the suite's own code, or whom it asks."""
    if spec.name == RUN_RECORD and suite.suite:
        return [suite.suite, sha256(code_in([suite.suite], rules.root)).hexdigest()]
    model = _model(grader, rules.config)
    if model is None:
        return None
    shaping = {key: model.options.get(key) for key in ("model", "callable", "options", "votes")}
    if not shaping["model"] and not shaping["callable"]:
        shaping["url"] = model.options.get("url") or model.options.get("base_url")
    wording = getattr(grader, "digest_text", str)()
    code = sha256(read_user_code(model, rules.root)).hexdigest()
    return [model.name, to_json(shaping), wording, *([code] if code_of(model) else [])]


def list_edited_columns(
    suite: Suite, graders: Mapping[str, Grader], rules: Rules
) -> dict[str, str]:
    """Column -> why it cannot be compared, for graders whose file differs from the base's, and for
    columns that depend on them. An edited suite written as code affects every column.
    """
    why_by_column: dict[str, str] = {}
    for spec, grader in zip(suite.graders, graders.values(), strict=True):
        model = _model(grader, rules.config)
        code = (*code_of(spec), *(code_of(model) if model else ()))
        named = {grader_file(name) for name in code}
        for file in sorted(_files(code, rules) & rules.edited_graders):
            whose = "its grader file" if file in named else "a file of its grader,"
            why = f"this change edits {whose} `{file}`"
            why_by_column |= dict.fromkeys((*_columns(grader), *_WHOLE), why)
    for file in sorted(_files([suite.suite or ""], rules) & rules.edited_graders):
        why = f"this change edits the suite's file `{file}`"
        graded = [column for grader in graders.values() for column in _columns(grader)]
        why_by_column |= dict.fromkeys((*graded, *TRIAL_COLUMNS), why)
    return why_by_column


def _files(code: Iterable[str], rules: Rules) -> set[str]:
    """The files of the checkout that the named code was loaded from."""
    loaded = rules.sources
    return {file for name in code for file in (grader_file(name), *loaded.get(name, ()))}


def _columns(grader: Grader) -> list[str]:
    return [
        *(metric.column for metric in grader.metrics()),
        *read_traits(GraderTraits, grader).fills,
    ]


def _model(grader: Grader, config: Config) -> PluginSpec | None:
    """Whom it asks; None where it asks nobody, or nobody is there."""
    role = read_traits(GraderTraits, grader).role
    return ((config.verifier if role == "verifier" else None) or config.judge) if role else None
