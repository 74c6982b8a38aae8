"""Secrets taken out of everything that is written, in every form in which they commonly travel, and
also where separators that nobody sees are put between their characters.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_letters, digits
from typing import TypeVar, cast

from gate.text.invisible import (
    drop_written,
    find_places,
    fold_bytes,
    has_written_separators,
    narrow_text,
    squeeze,
)
from gate.text.late_pattern import late_pattern
from gate.text.secret_forms import SHORTEST, list_forms, list_lines
from gate.text.spellings import undo_spellings

SPLIT = 8  # characters without separators; a shorter form is found only in one piece
MASK = "***"

_WORD = 8  # bytes that are looked up at once
_HEAD = 6  # of a secret: what a separator in characters before it may take with it, as in C:\\n...
_SAMPLED = 2 * _WORD - 1  # bytes among which is a whole word, wherever they stand
_DEPTH = 3  # escapes within escapes
_CUTS = (("…", "…"), ("\\u", r"\u2026"), ("&", "&hellip;"))  # where a text was cut off, and marks
_PLAIN = late_pattern(r"[A-Za-z0-9_.~+/=@:,;!?#$*^()|-]*")  # the same in every notation

T = TypeVar("T")
Span = tuple[int, int]


class Redactor:
    """Replaces secrets; knows nothing else and never shows what it looks for."""

    def __init__(self, secrets: Iterable[str]) -> None:
        texts = {part for secret in secrets for part in list_lines(secret)}
        forms_of = {
            part: [form for form in list_forms(part) if len(form) >= SHORTEST] for part in texts
        }
        all_forms = {form for some in forms_of.values() for form in some}
        tight = {form: squeeze(form) for form in all_forms}
        self._short = [form for form in all_forms if len(tight[form]) < SPLIT]
        # What a separator in characters may hide a part of, and what has signs that a notation
        # escapes: the escape belongs to what is masked.
        odd = (form for part in texts if not _PLAIN.fullmatch(part) for form in forms_of[part])
        hidden = (part for part in texts if len(squeeze(part)) < _SAMPLED)
        self._whole = list({*self._short, *odd, *hidden})
        self._tight = sorted({form for form in tight.values() if len(form) >= SPLIT}, key=len)
        self._brief = [form for form in self._tight if len(form) < _SAMPLED]
        self._long = self._tight[len(self._brief) :]
        # Quotes and angles are escaped everywhere: their usual escapes are forms of a secret, and
        # alone no reason to read a text once more.
        self._signs = frozenset(ascii_letters + digits + "\\%&").union(*texts) - {*"\"'<>"}
        self._words = frozenset(word for form in self._long for word in _sample_words(form))

    def __repr__(self) -> str:
        return f"Redactor({len(self._tight)} forms)"

    def __call__(self, text: str) -> str:
        return self.redact(text)

    def redact(self, text: str) -> str:
        """`text` with every stretch that is part of a secret replaced by `***`; JSON stays JSON."""
        spans = [*self._spans(text, _DEPTH)] if self._tight or self._short else []
        if not spans:
            return text
        shown = _mask(text, spans)
        if text[:1] not in ("{", "[") or _parse_json(shown) is not None:
            return shown
        data = _parse_json(text)  # part of a secret was a number, or of an escape
        return shown if data is None else json.dumps(self._scrub(data), ensure_ascii=False)

    def scrub(self, value: T) -> T:
        """The same for every text in a record or in JSON data; the very object when none has a
        secret.
        """
        lookups = self._tight or self._short
        hit = lookups and next(self._spans(repr(value), _DEPTH), None)
        return cast("T", self._scrub(value)) if hit else value

    def _scrub(self, value: object) -> object:
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return {self._scrub(key): self._scrub(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._scrub(item) for item in value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in dataclasses.fields(value)]
            changed = {name: self._scrub(getattr(value, name)) for name in names}
            return dataclasses.replace(value, **changed)
        return value

    def _spans(self, text: str, depth: int) -> Iterator[Span]:
        written = has_written_separators(text)
        for form in self._whole if written else self._short:
            if form in text:
                yield from _finds(form, text)
        data = narrow_text(text)
        tight = fold_bytes(drop_written(data) if written else data)
        spans = [span for form in self._brief if form in tight for span in _finds(form, tight)]
        # A look-up a word takes no longer for more secrets, as a search a form would.
        near = not self._words.isdisjoint(_words(tight))
        spans += [span for form in self._long for span in _finds(form, tight)] if near else ()
        spans += _beginnings(self._tight, text, tight) if written or not text.isascii() else ()
        yield from _place_spans(spans, text, written=written)
        if near and written:  # where a separator in characters took the head of one
            bare = fold_bytes(data)
            spans = [span for form in self._long for span in _finds(form, bare)]
            yield from _place_spans(spans, text, written=False)
        plain = (
            undo_spellings(text, data, self._signs)
            if depth and (written or not text.isascii())
            else None
        )
        if plain is not None:
            yield from (plain.span(*span) for span in self._spans(plain.text, depth - 1))


def _place_spans(spans: Sequence[Span], text: str, *, written: bool) -> Iterator[Span]:
    """Where in `text` what was found without separators is, with those that stand in it."""
    if spans:
        place = find_places(text, (n for a, b in spans for n in (a, b - 1)), written=written)
        yield from ((place[a], place[b - 1] + 1) for a, b in spans)


def _sample_words(form: bytes) -> Iterator[int]:
    """Words, one of which is looked up wherever the form stands: behind its head if it is long."""
    head = min(_HEAD, len(form) - _SAMPLED)
    for start in range(head, head + _WORD):
        yield from _words(form[start : head + _SAMPLED])


def _words(data: bytes) -> memoryview[int]:
    """As numbers, which take a third of the time of slices."""
    return memoryview(data)[: len(data) // _WORD * _WORD].cast("Q")


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _finds(form: str | bytes, shown: str | bytes) -> Iterator[Span]:
    """Those that overlap as one: in a run of one sign there are as many finds as signs."""
    begun = end = start = shown.find(form)  # type: ignore[arg-type]
    while start >= 0:
        if start >= end > begun:
            yield begun, end
            begun = start
        end = start + len(form)
        start = shown.find(form, start + 1)  # type: ignore[arg-type]
    if begun >= 0:
        yield begun, end


def _beginnings(forms: Sequence[bytes], text: str, tight: bytes) -> Iterator[Span]:
    """What is left of a secret where a text was cut off within it."""
    signs = [fold_bytes(sign.encode()) for mark, sign in _CUTS if mark in text and sign in text]
    begun = [form for form in forms if form[:SHORTEST] in tight] if signs else []
    for sign in signs if begun else ():
        last = 0  # what was cut off does not go on after the sign
        for match in re.finditer(re.escape(sign), tight):
            end = match.start()
            tail = tight[max(last, end - len(begun[-1])) : end]
            last = match.end()
            for form in begun:
                longest = min(len(form), len(tail)) if form[:SHORTEST] in tail else 0
                sizes = range(longest, SHORTEST - 1, -1)
                size = next((n for n in sizes if tail.endswith(form[:n])), 0)
                if size:
                    yield end - size, end


def _mask(shown: str, spans: Iterable[Span]) -> str:
    """Overlapping and nested finds are one stretch."""
    pieces: list[str] = []
    end = 0
    for start, stop in sorted(spans):
        if start > end or not pieces:
            pieces += (shown[end:start], MASK)
        end = max(end, stop)
    return "".join((*pieces, shown[end:]))
