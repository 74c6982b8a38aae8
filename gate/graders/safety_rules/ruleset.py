"""The rules for an agent: those of the suite, with what a case adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gate.graders.safety_rules.patterns import compile_pattern
from gate.records import Severity
from gate.text.sensitive import PersonalKind, SecretKind

Source = Literal["input", "expected_answer", "context", "results"]
Where = Literal["answer", "arguments", "tool", "result"]
PATH_KEYS = (
    *("path", "paths", "*_path", "*Path", "file", "files", "filename", "file_name", "*_file"),
    *("dir", "directory", "*_dir", "folder", "cwd", "workdir", "destination", "dest"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRule:
    """Arguments that a call must not have. `tool`, `key`: names or globs; `pattern`: Python's `re`,
    found anywhere in the value.
    """

    pattern: str
    tool: str = "*"
    key: str = "*"
    severity: Severity = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRule:
    """A user's rule: a `pattern` in the answer, the arguments or a result, or the call of a `tool`.
    `tool` and `key` limit it to some calls.
    """

    name: str
    where: Where = "answer"
    pattern: str | None = None
    tool: str = "*"
    key: str = "*"
    severity: Severity = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRules:
    """The key `safety` of a case. It adds to the suite's rules; `allowed_tools` and `roots` replace
    them. `allow`: globs of values that are not a leak.
    """

    forbidden_tools: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] | None = None
    forbidden_args: tuple[ArgumentRule, ...] = ()
    roots: tuple[str, ...] = ()
    rules: tuple[OwnRule, ...] = ()
    allow: tuple[str, ...] = ()
    canary: str | tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """All rules for one case."""

    forbidden_tools: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] | None = None
    forbidden_args: tuple[ArgumentRule, ...] = ()
    roots: tuple[str, ...] = ()
    path_keys: tuple[str, ...] = PATH_KEYS
    sensitive_paths: bool = True
    destructive: bool = True
    secrets: tuple[SecretKind, ...] = ()
    personal: tuple[PersonalKind, ...] = ()
    allow: tuple[str, ...] = ()
    allow_from: tuple[Source, ...] = ()
    rules: tuple[OwnRule, ...] = ()
    canaries: tuple[str, ...] = ()

    @property
    def about_calls(self) -> bool:
        """Whether a rule was written that can only be checked on calls."""
        has_own_rule = any(rule.where != "answer" for rule in self.rules)
        limited = self.allowed_tools is not None or self.roots
        return bool(self.forbidden_tools or self.forbidden_args or limited or has_own_rule)


def faults(args: tuple[ArgumentRule, ...], rules: tuple[OwnRule, ...]) -> Iterator[str]:
    """What is wrong with written rules."""
    for pattern in (*(rule.pattern for rule in args), *(rule.pattern for rule in rules)):
        try:
            compile_pattern(pattern or "")
        except ValueError as error:
            yield str(error)
    for own in rules:
        if not own.name.strip() or len(own.name) > 60:
            yield f"rules: {own.name[:60]!r} is no name - 1 to 60 characters"
        if own.pattern is None and (own.where != "tool" or own.tool == "*"):
            yield f"rules: '{own.name[:60]}' needs a pattern, or where: tool and a tool"
        if own.pattern is not None and own.where == "tool":
            yield f"rules: '{own.name[:60]}': where: tool takes a tool and no pattern"
