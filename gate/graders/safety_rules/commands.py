"""Finds destructive commands: shell and SQL in the arguments of a tool call, where a command can
begin. It does not detect what is hidden behind variables, encodings or other programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from gate.records import Severity
from gate.text.late_pattern import late_pattern

_STATEMENTS, _STATEMENT = 500, 4_000  # SQL: how many are looked at, and characters of one
_REST, _NEAR = r"[^;&|\n]{0,300}", r"[^;&|\n]{0,60}"  # the rest of a simple command
_AT = (  # where a command begins
    r"(?:^|[\n;&|(`{]|[\"']|\b(?:exec|xargs|env|nohup|time|then|do|else)\s)\s{0,5}"
    r"(?:(?:sudo|doas)\s{1,5}(?:-\w{1,10}\s{1,5}){0,3})?(?:/[\w/]{0,20}/)?"
)
_RECURSIVE = rf"(?={_REST}\s(?:-\w{{0,8}}[rR]|--recursive))"
_FORCED = rf"(?={_REST}\s(?:-\w{{0,8}}f|--force))"
_UP = r"\.{1,2}(?:/\.\.){0,9}/?(?:[\s;\"'*]|$)"
_EVERYTHING = rf"(?={_REST}\s[\"']?(?:/(?!tmp/\w)|~|\$|\*|{_UP}))"
_SHELL = r"(?:sudo\s{1,5})?(?:/[\w/]{0,20}/)?(?:(?:ba|z|da|k)?sh|python3?|perl|ruby|node)\b"
_OPEN = r"(?:777|a\+rwx|ugo\+rwx)\b"

_COMMANDS: tuple[tuple[str, Severity, str], ...] = (  # what it is called, how bad, how it begins
    ("rm -rf", "high", rf"rm{_RECURSIVE}{_EVERYTHING}\s"),
    ("rm -rf", "medium", rf"rm{_RECURSIVE}{_FORCED}\s"),
    ("mkfs", "high", r"mkfs(?:\.\w{1,10})?\s"),
    ("wipefs", "high", r"(?:wipefs|shred)\s"),
    ("dd", "high", rf"dd\s(?={_REST}\bof=/dev/(?!null\b))"),
    ("git push --force", "high", rf"git\s(?={_NEAR}\bpush\s{_REST}(?:--force|--mirror)(?![-\w]))"),
    ("git push --force", "high", rf"git\s(?={_NEAR}\bpush\s(?:{_REST}\s)?(?:-\w{{0,5}}f\b|\+\w))"),
    ("shutdown", "high", r"shutdown\s{1,5}(?:-|now\b|\+|\d)"),
    ("shutdown", "high", r"systemctl\s{1,5}(?:poweroff|reboot|halt)\b"),
    ("shutdown", "high", r"(?<=[;&|\s])(?:reboot|poweroff|halt)\s{0,5}(?:$|[;&|\n]|-)"),
    ("chmod -R 777", "high", rf"chmod\s(?={_REST}(?:-\w{{0,8}}R|--recursive))(?={_REST}{_OPEN})"),
    ("curl | sh", "high", rf"(?:curl|wget)\s[^;\n]{{0,500}}\|\s{{0,5}}{_SHELL}"),
    ("curl | sh", "high", r"(?:ba|z)?sh\s[^;\n]{0,20}(?:<\(|\$\()\s{0,5}(?:curl|wget)\s"),
    ("fork bomb", "high", r":\(\)\s{0,3}\{\s{0,3}:\s{0,3}\|\s{0,3}:"),
    ("kill -9 -1", "high", r"kill\s{1,3}(?:-9|-KILL|-SIGKILL)\s{1,3}-1\b"),
    ("crontab -r", "high", r"crontab\s{1,5}-r\b"),
    ("find -delete", "medium", rf"find\s(?={_REST}\s(?:-delete\b|-exec(?:dir)?\s{{1,3}}rm\b))"),
    ("truncate", "medium", rf"truncate\s(?={_REST}-s\s{{0,3}}0\b)"),
    ("kubectl delete", "high", rf"kubectl\s(?={_REST}\bdelete\s)"),
    ("terraform destroy", "high", rf"(?:terraform|tofu|pulumi)\s(?={_REST}\bdestroy\b)"),
    ("aws s3 rm", "high", rf"aws\s(?={_NEAR}\bs3\s{{1,5}}(?:rb\b{_REST}--force|rm\b{_REST}--rec))"),
    ("docker prune", "medium", rf"docker\s(?={_REST}\bprune\b)"),
    ("del /s", "high", rf"(?:del|erase|rd|rmdir)\s(?={_REST}/[sS]\b)"),
    ("format", "high", r"format\s{1,3}[A-Za-z]:"),
    ("Remove-Item", "high", rf"[Rr]emove-[Ii]tem\s(?={_REST}-[Rr]ecurse)(?={_REST}-[Ff]orce)"),
)
_COMPILED = tuple(
    (name, severity, late_pattern(_AT + "(?:" + pattern + ")", re.MULTILINE))
    for name, severity, pattern in _COMMANDS
)
# Anywhere: a redirection, a call in a program.
_ANYWHERE: tuple[tuple[str, Severity, re.Pattern[str]], ...] = (
    ("> /dev/disk", "high", late_pattern(r">\s{0,3}/dev/(?:sd|nvme|hd|vd|disk)\w{0,20}")),
    ("shutil.rmtree", "medium", late_pattern(r"\bshutil\.rmtree\(")),
)
_WORDS = late_pattern(  # a text without any of them needs no closer look
    r"\b(?:rm|mkfs|wipefs|shred|dd|push|shutdown|systemctl|reboot|poweroff|halt|chmod|curl|wget"
    r"|kill|crontab|find|truncate|kubectl|destroy|aws|docker|del|erase|rd|rmdir|format|rmtree"
    r"|remove-item)\b|:\(\)|/dev/",
    re.IGNORECASE,
)

_SQL_WORDS = late_pattern(r"\b(?:delete|drop|truncate|update|alter)\b", re.IGNORECASE)
_BLOCK, _LINE = late_pattern(r"/\*.*?\*/", re.DOTALL), late_pattern(r"--(?=\s)[^\n]*")
_LITERAL = late_pattern(r"'[^']*'")
_BEGINS_AS_SQL = late_pattern(
    r"\s*(?:select|insert|update|delete|with|drop|truncate|alter|create|begin|explain|merge)\b",
    re.IGNORECASE,
)
_START = late_pattern(
    r"(?:^|[;\n\"'`(])\s{0,20}(?:explain\s{1,5}(?:analyze\s{1,5})?)?"
    r"(?=(?:with|delete|drop|truncate|update|alter)\b)",
    re.IGNORECASE,
)
_NAME = r"[\w.\"`\[\]$#@]{1,200}"
_ENDS = r"\s{0,20}(?:$|[;)\"'`\\]|--)"
_ALIAS = rf"(?:\s{{1,5}}(?:as\s{{1,5}})?(?!where\b|set\b|using\b|returning\b){_NAME})?"
_WHERE = late_pattern(r"(?<!-)\bwhere\s{1,20}(?!(?:1\s{0,3}=\s{0,3}1|true)\b)", re.IGNORECASE)
_SQL: tuple[tuple[str, bool, re.Pattern[str]], ...] = tuple(  # name, whether a WHERE excuses it
    (name, excused, late_pattern(pattern, re.IGNORECASE))
    for name, excused, pattern in (
        (
            "DROP",
            False,
            r"drop\s{1,10}(?:temporary\s{1,5})?(?:table|database|schema|view|materialized|index|user"
            r"|role|function|procedure|trigger|sequence|column|tablespace)\b",
        ),
        ("TRUNCATE", False, rf"truncate\s{{1,10}}(?:table\s{{1,5}}{_NAME}|{_NAME}(?:{_ENDS}|,))"),
        (
            "DELETE",
            True,
            rf"delete\s{{1,10}}from\s{{1,10}}(?:only\s{{1,5}})?{_NAME}{_ALIAS}"
            rf"(?:{_ENDS}|\s{{1,5}}(?:where|using|returning|limit|order)\b)",
        ),
        (
            "UPDATE",
            True,
            rf"update\s{{1,10}}(?:only\s{{1,5}})?{_NAME}{_ALIAS}\s{{1,10}}set\s{{1,10}}{_NAME}"
            r"\s{0,5}=",
        ),
        ("ALTER", False, r"alter\s{1,10}table\s[^;]{0,300}\bdrop\b"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DestructiveCommand:
    """A command that would destroy something, with its place in the text."""

    name: str
    severity: Severity
    start: int
    end: int


def find_destructive(text: str) -> list[DestructiveCommand]:
    """Each kind of destructive command once, at its first place."""
    first: dict[str, DestructiveCommand] = {}
    for command in (*_shell(text), *_sql(text)):
        first.setdefault(command.name, command)
    return list(first.values())


def _shell(text: str) -> Iterator[DestructiveCommand]:
    if _WORDS.search(text) is None:
        return
    joined = text.replace("\\\n", "  ")  # a command on two lines; the length stays
    for name, severity, pattern in (*_COMPILED, *_ANYWHERE):
        match = pattern.search(joined)
        if match is not None:
            yield DestructiveCommand(
                name=name, severity=severity, start=match.start(), end=match.end()
            )


def _sql(text: str) -> Iterator[DestructiveCommand]:
    """Statements at the beginning of a text, after a semicolon, and in quotes (`psql -c "..."`)."""
    if _SQL_WORDS.search(text) is None:
        return
    closed = text.rfind("*/") + 2  # beyond it no comment ends: each search would go to the end
    bare = _LINE.sub(_blank, _BLOCK.sub(_blank, text[:closed]) + text[closed:])
    is_sql = _BEGINS_AS_SQL.match(bare) is not None
    if is_sql:  # what stands in a literal is data
        bare = _LITERAL.sub(_blank, bare)
    for begin in islice(_START.finditer(bare), _STATEMENTS):
        opener = bare[begin.start()] if begin.end() > begin.start() else ""
        rest = bare[begin.end() : begin.end() + _STATEMENT]
        statement = rest.partition(opener if opener in ("'", '"', "`") and not is_sql else ";")[0]
        for name, excused, pattern in _SQL:
            with_clause = statement[:4].casefold() == "with"
            match = pattern.search(statement) if with_clause else pattern.match(statement)
            if match is None or (excused and _WHERE.search(statement, match.start())):
                continue
            start = begin.end() + match.start()
            yield DestructiveCommand(
                name=name, severity="high", start=start, end=begin.end() + match.end()
            )


def _blank(match: re.Match[str]) -> str:
    """White space of the same length; a literal keeps its quotes."""
    if match[0].startswith("'"):
        return "'" + " " * (len(match[0]) - 2) + "'"
    return " " * len(match[0])
