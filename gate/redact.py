"""Secrets taken out of everything that is written, in every form in which they commonly travel, and
also where separators that nobody sees are put between their characters.
"""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

from gate.separators import marked, places, squeezed
from gate.text import inline

SHORTEST = 6  # characters; a shorter value would take ordinary words out of the reports
SPLIT = 8  # characters without separators; a shorter form is found only in one piece
MASK = "***"

_CUTS = ("…", r"\u2026", "&hellip;")  # what stands where a text was cut off

T = TypeVar("T")
Span = tuple[int, int]


class Redactor:
    """Replaces secrets; knows nothing else and never shows what it looks for."""

    def __init__(self, secrets: Iterable[str]) -> None:
        found = {form for secret in secrets for part in _parts(secret) for form in _forms(part)}
        tight = {form: _squeezed(form) for form in found if len(form) >= SHORTEST}
        self._forms = sorted(tight, key=len)
        self._short = [form for form in self._forms if len(tight[form]) < SPLIT]
        self._tight = sorted({form for form in tight.values() if len(form) >= SPLIT}, key=len)

    def __repr__(self) -> str:
        return f"Redactor({len(self._forms)} forms)"

    def __call__(self, text: str) -> str:
        return self.redact(text)

    def redact(self, text: str) -> str:
        """`text` with every stretch that is part of a secret replaced by `***`."""
        if not self._forms:
            return text
        tight = _squeezed(text)
        written = marked(text)
        # One search of memory a form is faster than one regular expression over all of them.
        whole = [form for form in (self._forms if written else self._short) if form in text]
        split = [form for form in self._tight if form in tight]
        may_be_cut = written or not text.isascii()
        cut = [*_beginnings(self._tight, text, tight)] if may_be_cut else []
        if not (whole or split or cut):
            return text
        spans = [span for form in whole for span in _finds(form, text)]
        inner = [span for form in split for span in _finds(form, tight)] + cut
        place = places(text, (n for a, b in inner for n in (a, b - 1)))
        return _masked(text, [*spans, *((place[a], place[b - 1] + 1) for a, b in inner)])

    def scrub(self, value: T) -> T:
        """The same for every text in a record or in JSON data; the very object when none has a
        secret.
        """
        shown = repr(value)
        return value if self.redact(shown) is shown else cast("T", self._scrubbed(value))

    def _scrubbed(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return {self._scrubbed(key): self._scrubbed(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._scrubbed(item) for item in value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in dataclasses.fields(value)]
            changed = {name: self._scrubbed(getattr(value, name)) for name in names}
            return dataclasses.replace(value, **changed)
        return value


def _parts(secret: str) -> Iterator[str]:
    """The secret and, of one with several lines, each line: either may be printed alone."""
    for part in (secret, secret.strip(), *secret.splitlines()):
        if len(part.strip()) >= SHORTEST:
            yield part


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield from _escaped(secret)
    raw = _utf8(secret)
    for alignment in range(3):
        encoded = _base64(raw, alignment)
        yield encoded
        yield encoded.translate(str.maketrans("+/", "-_"))
    yield raw.hex()
    yield raw.hex().upper()


def _escaped(secret: str) -> Iterator[str]:
    for url in (quote(_utf8(secret), safe=""), quote(_utf8(secret)), quote_plus(_utf8(secret))):
        yield url
        yield re.sub("%..", lambda found: found[0].lower(), url)
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield once.replace("/", "\\/")
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]  # JSON inside JSON
    yield html.escape(secret)
    yield html.escape(secret, quote=False)
    yield inline(secret, limit=None)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _base64(raw: bytes, alignment: int) -> str:
    """The characters that depend on `raw` alone when it starts `alignment` bytes into a group."""
    encoded = base64.b64encode(bytes(alignment) + raw).decode()
    first = -(-alignment * 8 // 6)
    last = (alignment + len(raw)) * 8 // 6
    return encoded[first:last]


def _squeezed(text: str) -> str:
    """A character a byte: that is searched in half the time of bytes."""
    return squeezed(text).decode("latin-1")


def _finds(form: str, shown: str) -> Iterator[Span]:
    """Those that overlap as one: in a run of one sign there are as many finds as signs."""
    begun = end = start = shown.find(form)
    while start >= 0:
        if start >= end > begun:
            yield begun, end
            begun = start
        end = start + len(form)
        start = shown.find(form, start + 1)
    if begun >= 0:
        yield begun, end


def _beginnings(forms: Sequence[str], text: str, tight: str) -> Iterator[Span]:
    """What is left of a secret where a text was cut off within it."""
    signs = [_squeezed(sign) for sign in _CUTS if sign in text]
    begun = [form for form in forms if form[:SHORTEST] in tight] if signs else []
    for sign in signs if begun else ():
        last = 0  # what was cut off does not go on after the sign
        for found in re.finditer(re.escape(sign), tight):
            end = found.start()
            tail = tight[max(last, end - len(begun[-1])) : end]
            last = found.end()
            for form in begun:
                longest = min(len(form), len(tail)) if form[:SHORTEST] in tail else 0
                sizes = range(longest, SHORTEST - 1, -1)
                size = next((n for n in sizes if tail.endswith(form[:n])), 0)
                if size:
                    yield end - size, end


def _masked(shown: str, spans: Iterable[Span]) -> str:
    """Overlapping and nested finds are one stretch."""
    pieces: list[str] = []
    end = 0
    for start, stop in sorted(spans):
        if start > end or not pieces:
            pieces += (shown[end:start], MASK)
        end = max(end, stop)
    return "".join((*pieces, shown[end:]))
