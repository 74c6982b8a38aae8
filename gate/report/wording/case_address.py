"""Where report.html shows a case: what follows the address of the file."""

from __future__ import annotations

from urllib.parse import urlencode

from gate.text.hidden import show_hidden


def address_case(suite: str, case_id: str, **view: str) -> str:
    """`#case=SUITE/ID`, percent-encoded, the id as the page shows it: hidden characters by their
    signs. `view`: what is listed beside, such as `f="new"`, the newly failing ones.
    """
    return "#" + urlencode({"case": show_hidden(f"{suite}/{case_id}"), **view})
