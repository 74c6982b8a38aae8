"""Secrets taken out of everything that is written, in every form in which they commonly travel."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from gate.text import inline

SHORTEST = 6  # characters; a shorter value would take ordinary words out of the reports
MASK = "***"


class Redactor:
    """Replaces secrets; knows nothing else and never shows what it looks for."""

    def __init__(self, secrets: Iterable[str]) -> None:
        found = {form for secret in secrets for part in _parts(secret) for form in _forms(part)}
        self._needles = tuple(sorted((n for n in found if len(n) >= SHORTEST), key=len))

    def __repr__(self) -> str:
        return f"Redactor({len(self._needles)} forms)"

    def __call__(self, text: str) -> str:
        return self.redact(text)

    def redact(self, text: str) -> str:
        """`text` with every stretch that is part of a secret replaced by `***`."""
        # One search of memory a form is faster than one regular expression over all of them.
        hits = [needle for needle in self._needles if needle in text]
        return _masked(text, hits) if hits else text


def _parts(secret: str) -> Iterator[str]:
    """The secret and, of one with several lines, each line: either may be printed alone."""
    for part in (secret, secret.strip(), *secret.splitlines()):
        if len(part.strip()) >= SHORTEST:
            yield part


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield from _escaped(secret)
    raw = secret.encode("utf-8", "surrogatepass")
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


def _masked(text: str, needles: Iterable[str]) -> str:
    """Overlapping and nested finds are one stretch."""
    spans = sorted(
        (found.start(1), found.end(1))
        for needle in needles
        for found in re.finditer(f"(?=({re.escape(needle)}))", text)
    )
    pieces: list[str] = []
    end = -1
    for start, stop in spans:
        if start > end:
            pieces += (text[max(end, 0) : start], MASK)
        end = max(end, stop)
    return "".join((*pieces, text[end:]))
