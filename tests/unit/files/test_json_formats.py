"""The formats of JSON Schema: which texts have them, and that nothing is asked without a wish."""

import pytest

from gate.files.json_formats import FORMATS, has_format
from gate.files.json_schema import mismatches_bounded

CASES = {  # format -> texts that have it, texts that have not
    "date": (["2024-02-29", "1999-12-31"], ["2023-02-29", "24-1-1", "2024-1-01", "tomorrow"]),
    "time": (["12:00:00Z", "23:59:60+01:30", "01:02:03.25z"], ["12:00", "24:00:00Z", "12:00:00"]),
    "date-time": (
        ["2024-05-12T14:30:00Z", "2024-05-12t14:30:00.1+02:00"],
        ["2024-05-12", "2024-13-12T14:30:00Z", "2024-05-12T14:30"],
    ),
    "duration": (["P1D", "PT5M", "P3W", "P1Y2M3DT4H5M6S"], ["P", "PT", "1D", "P1H", "P1W2D"]),
    "email": (["a.b@x.example", "a+b@localhost"], ["a", "@x", "a@", "a b@x", "a@-x", ".a@x"]),
    "hostname": (["x", "www.x.example"], ["", "-x", "x-", "a..b", "x_y", "a" * 64]),
    "ipv4": (["127.0.0.1"], ["256.0.0.1", "1.2.3", "01.2.3.4"]),
    "ipv6": (["::1", "2001:db8::8a2e"], [":::", "1.2.3.4", "fe80::1%eth0"]),
    "uri": (["https://x.example/a?b#c", "urn:x:1", "mailto:a@x"], ["/a", "x", "http://a b", ":a"]),
    "uri-reference": (["/a/b", "#x", "", "a%20b"], ["a b", "\\a", "a%2"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000", "x"]),
    "json-pointer": (["", "/a/0", "/a~1b/~0"], ["a", "/~2", "/a~"]),
    "regex": (["^a+$", ""], ["(", "[a"]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_asserted_on_request_only(name):
    right, wrong = CASES[name]
    schema = {"properties": {"x": {"type": "string", "format": name}}}
    for text in right:
        assert mismatches_bounded(schema, {"x": text}, formats=True) == []
    for text in [*wrong, "a" * 20_000]:
        (found,) = mismatches_bounded(schema, {"x": text}, formats=True)
        assert (found.path, found.rule) == (("x",), "format")
        assert mismatches_bounded(schema, {"x": text}) == []


def test_other_formats_and_other_values_ask_nothing():
    assert has_format("x", "no-such-format")
    assert has_format(5, "date")
    assert mismatches_bounded({"format": "colour"}, "x", formats=True) == []
