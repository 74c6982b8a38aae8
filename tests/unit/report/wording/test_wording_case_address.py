from urllib.parse import parse_qs

import pytest

from gate.report.wording.case_address import address_case


@pytest.mark.parametrize(
    ("case_id", "shown"),
    [
        ("refund-3", "refund-3"),
        ("a/b c&d=é#%?+", "a/b c&d=é#%?+"),
        ("x\u200by\x1b\ud800", "x⟨ZWSP⟩y␛⟨U+D800⟩"),
    ],
)
def test_an_address_is_read_back_as_the_page_shows_the_id(case_id, shown):
    address = address_case("s", case_id, f="new")
    assert address.startswith("#case=")
    assert parse_qs(address[1:], strict_parsing=True) == {"case": [f"s/{shown}"], "f": ["new"]}
