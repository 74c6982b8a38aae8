import base64
import html
import json
import re
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.redact import Redactor
from gate.text import inline

KEY = 'sk-live_A1b2C3+/="&é d4E5f6'
secrets = st.text(st.characters(codec="utf-8", exclude_characters="*\r\n"), min_size=6, max_size=40)


def base64_in(secret, before, after=b"tail"):
    return base64.b64encode(before + secret.encode() + after).decode()


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        quote(KEY),
        quote(KEY, safe=""),
        re.sub("%..", lambda found: found[0].lower(), quote(KEY, safe="")),
        quote_plus(KEY),
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(KEY))[3:-3],
        json.dumps(KEY)[1:-1].replace("/", "\\/"),
        html.escape(KEY),
        html.escape(KEY, quote=False),
        inline(KEY),
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
    ],
)
def test_every_written_form_is_replaced(form):
    shown = Redactor([KEY]).redact(f"before {form} after")
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert "***" in shown
    for part in ("A1b2C3", "d4E5f6", KEY.encode().hex()[8:20]):
        assert part not in shown
        assert part.upper() not in shown


@pytest.mark.parametrize("alignment", [0, 1, 2])
@pytest.mark.parametrize("urlsafe", [False, True])
def test_base64_is_found_at_every_alignment(alignment, urlsafe):
    encoded = base64_in(KEY, b"p" * (3 + alignment))
    if urlsafe:
        encoded = encoded.replace("+", "-").replace("/", "_")
    shown = Redactor([KEY]).redact(encoded)
    assert "***" in shown
    assert len(shown) < 20


@given(secrets, st.binary(max_size=7), st.binary(max_size=7))
def test_a_secret_never_survives(secret, before, after):
    if len(secret.strip()) < 6:
        return
    redact = Redactor([secret]).redact
    assert secret not in redact(f"x {secret} y{secret}")
    assert "***" in redact(base64_in(secret, before, after))
    assert secret not in json.loads(redact(json.dumps({"a": secret, "b": 1})))["a"]


def test_overlapping_and_nested_secrets_are_one_stretch():
    redact = Redactor(["abcdefgh", "efghijkl", "cdefgh"]).redact
    assert redact("1 abcdefghijkl 2") == "1 *** 2"
    assert redact("abcdefghabcdefgh") == "***"
    assert redact("abcdefgh abcdefgh") == "*** ***"
    assert redact("aaaaaaa") == "aaaaaaa"
    assert Redactor(["aaaaaa"]).redact("baaaaaaaab") == "b***b"


def test_each_line_of_a_long_secret_is_one():
    key = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\nshort\n-----END KEY-----\n"
    redact = Redactor([key]).redact
    assert redact("MIIEpAIBAAKCAQEA") == "***"
    assert redact("short") == "short"
    assert "MIIE" not in redact(key)


def test_short_values_and_no_values_change_nothing():
    assert Redactor(["", "abc", "     "]).redact("abc and    more") == "abc and    more"
    assert Redactor([]).redact("text") == "text"


def test_it_is_callable_and_shows_nothing_of_what_it_knows():
    redactor = Redactor([KEY])
    assert redactor(KEY) == "***"
    assert "A1b2" not in repr(redactor)


def test_a_line_without_secrets_is_the_same_object():
    line = "x" * 1000
    assert Redactor([KEY, "another-secret-value"]).redact(line) is line


def test_many_lines_cost_little():
    """A guard against a wrong order of growth, not a benchmark: the figure is about 20 ms."""
    redact = Redactor(["sk-" + "a1B2" * 12, "ghp_" + "0f3c" * 10]).redact
    lines = [f'{{"output": "{n} ' + "lorem ipsum " * 80 + '"}' for n in range(5000)]
    start = time.process_time()
    for line in lines:
        redact(line)
    assert time.process_time() - start < 1.0
