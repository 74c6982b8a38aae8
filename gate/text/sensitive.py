"""Secrets and personal data that have a form of their own: where in a text they are.

Names and addresses of people have no such form. Every pattern is linear in the text, and begins
with the characters that it can begin with, before it looks back: `re` skips the others at once.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from gate.text.late_pattern import late_pattern

SecretKind = Literal[
    "private_key",
    "api_key",
    "aws_key",
    "github_token",
    "slack_token",
    "google_key",
    "jwt",
    "bearer_token",
    "url_password",
    "password",
]
PersonalKind = Literal["email", "iban", "card", "ssn", "phone", "ip"]
Kind = SecretKind | PersonalKind

SECRETS: tuple[SecretKind, ...] = get_args(SecretKind)
PERSONAL: tuple[PersonalKind, ...] = get_args(PersonalKind)
MASK = "***"
MOST = 1_000  # finds in one text

_LONGEST = 200  # characters of one value
_RUNS = (13, 9, 7)  # digits in a row that tell kinds apart
_DIGITS = {**dict.fromkeys(map(ord, "123456789"), "0"), **dict.fromkeys(map(ord, " ()./-"))}
_PREFIXED = {"api_key", "aws_key", "github_token", "slack_token", "google_key", "jwt"}
_PLACEHOLDERS = late_pattern(
    r"(?i)\*\*|\.\.\.|…|xxxx|<|\$\{|\{\{|your|example|placeholder|changeme|redacted|dummy|user(?:name)?:pass"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivePattern:
    """What one kind looks like. A text without any of the `hints`, in small letters, has none, nor
    has one with fewer `digits` in a row. `holds` checks what a pattern cannot; `group` is the part
    that is sensitive.
    """

    kind: Kind
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ()
    digits: int = 0
    holds: Callable[[str], bool] = lambda value: True
    group: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveMatch:
    """One sensitive value and its place in the text."""

    kind: Kind
    value: str
    start: int
    end: int


def find_sensitive(
    text: str, kinds: Iterable[Kind] = (*SECRETS, *PERSONAL)
) -> list[SensitiveMatch]:
    """Those of these kinds, by their place; of what overlaps, the one whose kind comes first.

    Secrets are looked for in any case, so that a part of one is not taken for an address.
    """
    wanted = set(kinds)
    taken: list[tuple[int, int]] = []
    matches: list[SensitiveMatch] = []
    small, digits = text.lower(), _most_digits(text)
    for shape in SHAPES:
        if shape.kind not in wanted and shape.kind in PERSONAL:
            continue
        if shape.digits > digits or not _has_hint(shape, small):
            continue
        for match in _find_matches(shape, text):
            at = bisect_left(taken, (match.start, match.end))
            before = taken[at - 1][1] if at else 0
            after = taken[at][0] if at < len(taken) else len(text)
            if before <= match.start and match.end <= after:
                taken.insert(at, (match.start, match.end))
                matches += [match] if match.kind in wanted else []
            if len(taken) >= MOST:
                return sorted(matches, key=lambda match: match.start)
    return sorted(matches, key=lambda match: match.start)


def mask_match(match: SensitiveMatch) -> str:
    """What may be shown of it: the prefix that tells whose key it is, the host of an address."""
    if match.kind in _PREFIXED:
        return match.value[:4] + MASK
    if match.kind == "email":
        return f"{match.value[:1]}{MASK}@{match.value.rpartition('@')[2]}"
    return MASK


def _most_digits(text: str) -> int:
    """How many stand in a row, blanks and the like aside: one of _RUNS, or 0."""
    if not text.isascii():
        return _RUNS[0]  # other scripts have digits of their own
    plain = text.translate(_DIGITS)
    return next((run for run in _RUNS if "0" * run in plain), 0)


def _has_hint(shape: SensitivePattern, small: str) -> bool:
    for hint in shape.hints:
        if hint in small:
            return True
    return not shape.hints


def _find_matches(shape: SensitivePattern, text: str) -> Iterator[SensitiveMatch]:
    for match in shape.pattern.finditer(text):
        value = match[shape.group]
        if shape.holds(value):
            start, end = match.span(shape.group)
            yield SensitiveMatch(kind=shape.kind, value=value, start=start, end=end)


def has_luhn_digit(written: str) -> bool:
    """The check digit of payment cards (ISO/IEC 7812-1), and a first digit that issuers have."""
    digits = [int(sign) for sign in reversed(written) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return 2 <= digits[-1] <= 6 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def has_iban_digits(written: str) -> bool:
    """The check digits of an IBAN (ISO 13616)."""
    compact = written.replace(" ", "")
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def _is_four_bytes(written: str) -> bool:
    """An address and no version: every part fits a byte."""
    return ":" in written or all(int(part) < 256 for part in written.split("."))


def _is_issued(written: str) -> bool:
    """A social security number that can be one (SSA: no area 000, 666, 9xx, no group, serial 0)."""
    area, group, serial = written.split("-")
    return area not in ("000", "666") and area[0] != "9" and int(group) > 0 and int(serial) > 0


def _is_no_placeholder(value: str) -> bool:
    """No placeholder of a manual."""
    return _PLACEHOLDERS.search(value) is None


def _is_random(value: str) -> bool:
    """Letters, digits and at least 3 bits a character (Shannon): no word, no number."""
    if len(value) < 10 or not _is_no_placeholder(value):
        return False
    if not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    shares = [n / len(value) for n in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares) >= 3.0


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value)) and _is_no_placeholder(value)


def _is_personal_address(value: str) -> bool:
    """An address of somebody, and not that of a repository."""
    return not value.startswith("git@")


_API_KEY = (
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,200}|\bglpat-[\w-]{20,200}|\bhf_[A-Za-z0-9]{30,200}"
    r"|\bnpm_[A-Za-z0-9]{36}\b|\bSG\.[\w-]{16,80}\.[\w-]{16,80}|\bpypi-[\w-]{50,250}"
    r"|\bdop_v1_[0-9a-f]{64}\b|\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"
)
_GITHUB = r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"  # also glued to a word
_SLACK = r"\bxox[abeoprs]-[\w-]{10,}|(?<=hooks\.slack\.com/services/)T\w{5,20}/B\w{5,20}/\w{10,50}"
_ASSIGNED = (
    r"[AaPpSsTt](?i:(?<=p)(?:assword|asswd|wd|assphrase)|(?<=s)ecret|(?<=t)oken"
    r"|(?<=a)(?:pi|ccess)[_-]?key)(?i:[\"']?"
    r"(?:\s{0,5}[:=]|\s{1,5}is\s)\s{0,5}[\"']?)([^\s\"',;<>()]{8,200})"
)

SHAPES: tuple[SensitivePattern, ...] = (  # in this order
    SensitivePattern(
        kind="private_key",
        pattern=late_pattern(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
            r"[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
        ),
        hints=("private key",),
    ),
    SensitivePattern(
        kind="api_key",
        pattern=late_pattern(_API_KEY),
        hints=(
            *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "glpat-", "hf_", "npm_", "sg.", "pypi-"),
            *("dop_v1_", "shp"),
        ),
        holds=_has_digit,
    ),
    SensitivePattern(
        kind="github_token",
        pattern=late_pattern(_GITHUB),
        hints=("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    SensitivePattern(
        kind="aws_key",
        pattern=late_pattern(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        hints=("akia", "asia"),
    ),
    SensitivePattern(
        kind="slack_token", pattern=late_pattern(_SLACK), hints=("xox", "hooks.slack")
    ),
    SensitivePattern(
        kind="google_key",
        pattern=late_pattern(r"\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}"),
        hints=("aiza", "ya29."),
    ),
    SensitivePattern(
        kind="jwt",
        pattern=late_pattern(r"\beyJ[\w-]{8,1000}\.[\w-]{8,}\.[\w-]*"),
        hints=("eyj",),
    ),
    SensitivePattern(
        kind="bearer_token",
        pattern=late_pattern(r"(?i:\bbearer\s{1,5})([A-Za-z0-9._~+/-]{16,}=*)"),
        hints=("bearer",),
        holds=_has_digit,
        group=1,
    ),
    SensitivePattern(
        kind="url_password",
        pattern=late_pattern(rf"(?<=://)[^/\s:@]{{1,{_LONGEST}}}:[^/\s@]{{1,{_LONGEST}}}(?=@)"),
        hints=("://",),
        holds=_is_no_placeholder,
    ),
    SensitivePattern(
        kind="password",
        pattern=late_pattern(_ASSIGNED),
        hints=("passw", "pwd", "passphrase", "secret", "token", "key"),
        holds=_is_random,
        group=1,
    ),
    SensitivePattern(
        kind="email",
        pattern=late_pattern(
            r"(?<![\w.+-])[\w.+-]{1,100}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])"
        ),
        hints=("@",),
        holds=_is_personal_address,
    ),
    SensitivePattern(
        kind="iban",
        digits=7,
        pattern=late_pattern(
            r"[A-Z](?<!\w[A-Z])[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"
        ),
        holds=has_iban_digits,
    ),
    SensitivePattern(
        kind="card",
        digits=13,
        pattern=late_pattern(r"\d(?<![\w.-]\d)(?:[ -]?\d){12,18}(?![\w-])"),
        holds=has_luhn_digit,
    ),
    SensitivePattern(
        kind="ssn",
        digits=9,
        pattern=late_pattern(r"\d(?<![\w-]\d)\d{2}-\d{2}-\d{4}(?![\w-])"),
        hints=("-",),
        holds=_is_issued,
    ),
    SensitivePattern(
        kind="phone",
        digits=7,
        pattern=late_pattern(
            r"[+(\d](?<![\w.,/-][+(\d])(?:(?:(?<=\+)|(?<=0)0)\d(?:[ ()./-]{0,2}\d){7,13}"
            r"|(?:(?<=\()\d|(?<=\d))\d{2}\)?[ .-]\d{3}[ .-]\d{4})(?![\w-])"
        ),
    ),
    SensitivePattern(
        kind="ip",
        pattern=late_pattern(
            r"[0-9A-Fa-f](?<![\w.:][0-9A-Fa-f])"
            r"(?:(?<=\d)\d{0,2}(?:\.\d{1,3}){3}(?![\w.]*\d)"
            r"|[0-9A-Fa-f]{0,3}:(?:[0-9A-Fa-f]{1,4}:){3,6}[0-9A-Fa-f]{1,4}(?![\w:]))"
        ),
        holds=_is_four_bytes,
    ),
)
