"""Lines and tables for a terminal or a log, in memory; whatever they hold, they only show."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gate.text.escaping import in_ascii, one_line, plain


class Screen:
    """A rich console that writes to memory; every text is made harmless on its way in."""

    def __init__(self, *, color: bool, unicode: bool, width: int) -> None:
        self.width = width
        self._unicode = unicode
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=width,
            force_terminal=color,
            color_system="standard" if color else None,
            no_color=not color,
            legacy_windows=False,
            emoji=False,
            markup=False,
            highlight=False,
        )

    def shown(self, text: str) -> str:
        line = plain(one_line(text, 1_200))
        if self._unicode:
            return line
        return in_ascii(line)

    def line(self, text: str, style: str = "", *, wrap: bool = True, indent: int = 0) -> None:
        shown = " " * indent + self.shown(text)
        self._console.print(Text(shown, style=style), soft_wrap=not wrap)

    def table(self, head: Sequence[str], rows: Iterable[Sequence[Text]], *, whole: int) -> None:
        """The first `whole` columns are never folded, only cut."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for number, name in enumerate(head):
            keep = number < whole
            table.add_column(self.shown(name), overflow="crop" if keep else "fold", no_wrap=keep)
        for row in rows:
            table.add_row(*row)
        self._console.print(table)

    def cell(self, text: str, style: str = "") -> Text:
        return Text(self.shown(text), style=style)

    def text(self) -> str:
        """What was printed; folding may have moved a sign to the start of a line, so once more."""
        return "".join(
            _harmless(line.rstrip()) + "\n" for line in self._out.getvalue().split("\n")[:-1]
        )


def _harmless(line: str) -> str:
    return line.replace("##[", "# #[") if not line.lstrip().startswith("::") else f". {line}"
