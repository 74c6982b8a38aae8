"""XML of nobody one trusts, read in pieces: no DTD, no entities but XML's own, nothing fetched.

Entities, which can multiply a text a billion times or name a file, can be declared in a DTD only:
a document that has one is refused where it begins (OWASP, XML External Entity Prevention).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from gate.errors import InvalidInput, Place, Problem
from gate.files.plain import plain

DEEPEST = 100  # elements in each other
MOST_PENDING = 4 << 20  # bytes of one tag: each piece makes the parser begin it again
_PIECE = 1 << 20  # bytes read at once


class Begin(NamedTuple):
    """An element begins."""

    name: str
    attributes: Mapping[str, str]
    line: int


class End(NamedTuple):
    """An element ends; `text`: what stood in it, outside of other elements, its first part."""

    name: str
    text: str


Step = Begin | End


class _Reader:
    """Hands on what the parser finds; keeps no more than one piece of the file."""

    def __init__(self, file: str, keep: int) -> None:
        self.file = file
        self._keep = keep
        self.found: list[Step] = []
        self._texts: list[list[str]] = []
        self._sizes: list[int] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._doctype

    def refuse(self, message: str, line: int | None = None) -> InvalidInput:
        here = self.parser.CurrentLineNumber if line is None else line
        return InvalidInput([Problem(Place(self.file, here), message)])

    def _doctype(self, *_: object) -> None:
        raise self.refuse(
            "has a DTD, which is not allowed because its entities can expand without limit; "
            "remove it"
        )

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._texts) >= DEEPEST:
            raise self.refuse("nested too deeply")
        self._texts.append([])
        self._sizes.append(0)
        plain_name = name.rpartition(":")[2]
        self.found.append(Begin(plain_name, attributes, self.parser.CurrentLineNumber))

    def _text(self, text: str) -> None:
        if self._texts and self._sizes[-1] < self._keep:
            self._texts[-1].append(text[: self._keep])
            self._sizes[-1] += len(text)

    def _end(self, name: str) -> None:
        text = "".join(self._texts.pop())[: self._keep]
        self._sizes.pop()
        self.found.append(End(name.rpartition(":")[2], text))


def steps(path: Path, *, keep: int) -> Iterator[Step]:
    """Every element's beginning and end; of its text the first `keep` characters. Raises UsageError
    for what is no plain file, InvalidInput (file:line) for what is no XML or hostile.
    """
    reader = _Reader(path.as_posix(), keep)
    fed = 0
    with plain(path).open("rb") as file:
        while True:
            piece = file.read(_PIECE)
            fed += len(piece)
            try:
                reader.parser.Parse(piece, not piece)
            except expat.ExpatError as error:
                raise _broken(reader, error) from None
            except (LookupError, ValueError) as error:
                raise reader.refuse(f"its encoding cannot be read ({error}); use UTF-8") from None
            if fed - reader.parser.CurrentByteIndex > MOST_PENDING:
                raise reader.refuse(f"a tag of more than {MOST_PENDING >> 20} MB")
            yield from reader.found
            reader.found.clear()
            if not piece:
                return


def _broken(reader: _Reader, error: expat.ExpatError) -> InvalidInput:
    what = expat.errors.messages.get(error.code, "no XML")
    if what in ("no element found", "unclosed token", "unclosed CDATA section"):
        what = "cut off in the middle - the file is incomplete; copy it again"
    return reader.refuse(f"no XML: {what}" if "cut off" not in what else what, error.lineno)
