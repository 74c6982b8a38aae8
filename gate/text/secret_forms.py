"""In which forms a secret travels: as it is, escaped, encoded, turned round.

Forms are searched without regard to case and to separators (gate/text/redaction.py), and in texts
whose escapes are undone (gate/text/spellings.py): one form stands for all of these.
"""

from __future__ import annotations

import base64
import codecs
import html
import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote, quote_plus

from gate.text.escaping import inline

SHORTEST = 6  # characters; a shorter value would take ordinary words out of the reports
TURNED = 8  # characters; a shorter one turned round may be an ordinary word


def list_lines(secret: str) -> Iterator[str]:
    """The secret and, of one with several lines, each line: either may be printed alone."""
    for part in (secret, secret.strip(), *secret.splitlines()):
        if len(part.strip()) >= SHORTEST:
            yield part


def list_forms(secret: str) -> Iterator[str]:
    yield secret
    if not secret.isascii():
        yield secret.upper()
        yield secret.lower()
    yield from _list_escaped(secret)
    raw = _utf8(secret)
    for alignment in range(3):
        encoded = _list_aligned(base64.b64encode, 6, raw, alignment)
        yield encoded
        yield quote(encoded, safe="")
    for alignment in range(5):
        yield _list_aligned(base64.b32encode, 5, raw, alignment)
    yield raw.hex()
    if len(secret) >= TURNED:
        yield secret[::-1]
        yield codecs.encode(secret, "rot13")


def _list_escaped(secret: str) -> Iterator[str]:
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


def _list_aligned(encode: Callable[[bytes], bytes], bits: int, raw: bytes, alignment: int) -> str:
    """The characters, of so many `bits` each, that depend on `raw` alone when it starts
    `alignment` bytes into a group.
    """
    encoded = encode(bytes(alignment) + raw).decode()
    first = -(-alignment * 8 // bits)
    last = (alignment + len(raw)) * 8 // bits
    return encoded[first:last]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
