import base64
import codecs
import hashlib
import html
import json
import re
import string
import sys
import tracemalloc
import unicodedata
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.records import Document, Response, ToolCall
from gate.text.escaping import inline
from gate.text.invisible import find_places, squeeze
from gate.text.redaction import Redactor
from tests.support.growth import calls, cpu_seconds
from tests.support.paths import ROOT

KEY = 'sk-live_A1b2C3+/="&é d4E5f6'
PLAIN = "sk-live_A1b2C3d4E5f6"
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


# --------------------------------------------------------------- turned round, escaped, look-alike

SHARP = "Npm_9fQ2-xZ7LmW4.tRb8"


def wide(text):
    """In the letters of full width, as East Asian text has them."""
    return "".join(chr(ord(sign) + 0xFEE0) for sign in text)


def bold(text):
    """In a mathematical alphabet; signs as they are."""
    letters = string.ascii_uppercase + string.ascii_lowercase
    found = {sign: chr(0x1D400 + n) for n, sign in enumerate(letters)}
    found |= {sign: chr(0x1D7CE + n) for n, sign in enumerate(string.digits)}
    return "".join(found.get(sign, sign) for sign in text)


def percent(text):
    return "".join(f"%{ord(sign):02X}" for sign in text)


WRITTEN_OTHERWISE = {
    "upper case": str.upper,
    "lower case": str.lower,
    "swapped case": str.swapcase,
    "reversed": lambda text: text[::-1],
    "reversed in capitals": lambda text: text[::-1].upper(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "percent": percent,
    "percent, small": lambda text: percent(text).lower(),
    "percent twice": lambda text: quote(percent(text)),
    "percent three times": lambda text: quote(quote(percent(text))),
    "percent for every other sign": lambda text: "".join(
        percent(sign) if n % 2 else sign for n, sign in enumerate(text)
    ),
    "percent-encoded base64": lambda text: quote(base64.b64encode(text.encode() + b"?>~"), safe=""),
    "JSON": lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text),
    "JSON, capitals": lambda text: "".join(f"\\u{ord(sign):04X}" for sign in text),
    "JSON in JSON": lambda text: "".join(f"\\\\u{ord(sign):04x}" for sign in text),
    "JavaScript": lambda text: "".join(f"\\u{{{ord(sign):x}}}" for sign in text),
    "Python": lambda text: "".join(f"\\x{ord(sign):02x}" for sign in text),
    "Python, long": lambda text: "".join(f"\\U{ord(sign):08x}" for sign in text),
    "escapes here and there": lambda text: text[:3] + f"\\u{ord(text[3]):04x}" + text[4:],
    "HTML": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "HTML, hexadecimal": lambda text: "".join(f"&#x{ord(sign):x};" for sign in text),
    "HTML in HTML": lambda text: "".join(f"&amp;#{ord(sign)};" for sign in text),
    "HTML names": lambda text: "".join(
        {"_": "&lowbar;", "-": "&#45;", "/": "&sol;", "&": "&amp;"}.get(sign, f"&#{ord(sign)};")
        for sign in text
    ),
    "escaped ampersands": lambda text: "".join(f"\\u0026#{ord(sign)};" for sign in text),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "base32, small": lambda text: base64.b32encode(b"ab" + text.encode() + b"c").decode().lower(),
    "base64 in capitals": lambda text: base64.b64encode(text.encode()).decode().upper(),
    "full width": wide,
    "full width, escaped": lambda text: json.dumps(wide(text))[1:-1],
    "bold": bold,
    "blanks between": " ".join,
    "blanks between, full width": lambda text: " ".join(wide(text)),
    "blanks between, reversed": lambda text: " ".join(text[::-1]),
    "blanks between escapes": lambda text: " ".join(f"\\u{ord(sign):04x}" for sign in text),
    "hexadecimal with blanks": lambda text: text.encode().hex(" "),
}


@pytest.mark.parametrize("write", WRITTEN_OTHERWISE.values(), ids=WRITTEN_OTHERWISE)
@pytest.mark.parametrize("secret", [SHARP, PLAIN, "wJa1rXUtn/K7MDENG+bPx&9"])
def test_a_secret_written_otherwise_is_replaced(write, secret):
    redact = Redactor([secret]).redact
    form = write(secret)
    shown = redact(f"é before [{form}] after [{form}]")
    assert shown.count("***") == 2, ascii(shown)
    assert len(shown) <= len("é before [***] after [***]") + 24, ascii(shown)  # of the coding
    assert shown.startswith("é before [")
    inside = json.dumps({"a": form, "n": 1})
    assert "***" in json.loads(redact(inside))["a"]
    assert len(json.loads(redact(inside))["a"]) < 16
    assert Redactor([secret]).scrub({"a": (form,)})["a"] != (form,)


@pytest.mark.parametrize("alignment", range(5))
def test_base32_is_found_at_every_alignment(alignment):
    encoded = base64.b32encode(b"p" * (5 + alignment) + SHARP.encode() + b"tail").decode()
    shown = Redactor([SHARP]).redact(encoded)
    assert "***" in shown
    assert len(shown) < 28


def test_what_is_not_covered_is_named_in_security_md():
    """A form that begins to be covered moves from that list into the other one."""
    redact = Redactor([SHARP]).redact
    named = {
        "visible signs between": "-".join(SHARP),
        "as numbers": " ".join(str(ord(sign)) for sign in SHARP),
        "a part of a secret": SHARP[:10],
        "base64 of base64": base64.b64encode(base64.b64encode(SHARP.encode())).decode(),
        "base85": base64.b85encode(SHARP.encode()).decode(),
        "quoted-printable": "".join(f"={ord(sign):02X}" for sign in SHARP),
        "octal": "".join(f"\\{ord(sign):o}" for sign in SHARP),
        "UTF-16": base64.b64encode(SHARP.encode("utf-16-le")).decode(),
        "circled": "".join(chr(0x24D0 + ord(s) - 97) if s.islower() else s for s in SHARP),
    }
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    covered, _, left = security.partition("Not covered")
    for words, form in named.items():
        assert words in left
        assert redact(f"x {form} y") == f"x {form} y"
    for words in ("base32", "rot13", "backwards", "full width", "upper and lower case", "`%XX`"):
        assert words in covered


def test_ordinary_text_is_left_alone():
    redact = Redactor([SHARP, "s3cret-word"]).redact
    text = (
        'A secret word: https://a.b/c%2Fd%20e?f=%41 &amp; &#65;&quot;<b>"\\u00e9\\x41" '
        "ｆｕｌｌ ｗｉｄｔｈ \U0001d400 9FQ2 drow of terces; NPM_9F"
    )
    assert redact(text) == text


def test_json_stays_json_where_a_secret_is_a_number_or_shares_an_escape():
    redact = Redactor(["48151623", "npm_9fQ2xZ7LmW4"]).redact
    line = json.dumps({"latency_ms": 48151623.5, "said": "it is 48151623", "id": 148151623})
    assert json.loads(redact(line)) == {
        "latency_ms": 48151623.5,
        "said": "it is ***",
        "id": 148151623,
    }
    broken = json.dumps({"said": "\npm_9fQ2xZ7LmW4", "also": "C:\\npm_9fQ2xZ7LmW4"})
    found = json.loads(redact(broken))
    assert found["also"] == "C:\\***"
    assert "pm_9f" not in found["said"] or found["said"] == "\npm_9fQ2xZ7LmW4"


# ------------------------------------------------------------------------- split by separators

FORMS = (
    PLAIN,
    base64_in(PLAIN, b""),
    base64_in(PLAIN, b"p"),
    base64_in(PLAIN, b"pp"),
    PLAIN.encode().hex(),
    PLAIN.encode().hex().upper(),
)
SEPARATORS = (
    *("\n", "\r\n", " ", "\t", "  \n  ", "\x0b", "\x00"),
    *("\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff", "\xad", "\xa0"),
    *("\u3000", "\u2028", "\u202e", "\u2066", "\u115f", "\ufe0f", "\U000e0041", "\u180e"),
    *("\\n", "\\r\\n", "\\t", "\\u200b", "\\u200B", "\\\\n", "\\\\u200b", "\\u00ad", "\\ufeff"),
    *("\\u{200b}", "\\x0a", "\\xa0", "\\udb40\\udc41", "\\u001b[31m", "\x1b[0m"),
    *("&#8203;", "&#x200b;", "&#x0200B;", "&amp;#8203;", "&zwsp;", "&shy;", "&nbsp;", "&#10;"),
    *("<wbr>", "<wbr/>", "<br />", "</b>", "<!-- -->", "&lt;wbr&gt;"),
    *("%0A", "%20", "%E2%80%8B", "%c2%ad", "%EF%BB%BF"),
)


@pytest.mark.parametrize("separator", SEPARATORS, ids=ascii)
@pytest.mark.parametrize("step", [1, 4])
def test_a_form_split_by_what_nobody_sees_is_replaced(separator, step):
    redact = Redactor([PLAIN]).redact
    for form in FORMS:
        split = separator.join(form[n : n + step] for n in range(0, len(form), step))
        shown = redact(f"é before {split} after {split}")
        assert shown.count("***") == 2
        left = squeeze(shown.replace("***", "|")).decode()
        form = squeeze(form).decode()
        assert not [n for n in range(4, len(form) - 12) if form[n : n + 4] in left]
        assert shown.startswith("é before ")
        assert " after" in shown


@given(
    st.text(st.sampled_from('ntu0x4126.,:"\\[]{}/ \n%41&#;'), min_size=6, max_size=9),
    st.recursive(
        st.integers() | st.text(st.sampled_from('ntu0x4126.,:"\\[]{}/ \n%41&#;')),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    ),
)
def test_what_was_json_stays_it(secret, data):
    redact = Redactor([secret]).redact
    for line in (json.dumps({"a": data, "b": secret}), json.dumps([secret, data, 0x4126])):
        assert isinstance(json.loads(redact(line)), (dict, list))


@given(st.lists(st.sampled_from(SEPARATORS), min_size=len(PLAIN) - 1, max_size=len(PLAIN) - 1))
def test_any_mixture_of_separators(chosen):
    split = "".join(sign + by for sign, by in zip(PLAIN, [*chosen, ""], strict=True))
    assert Redactor([PLAIN]).redact(f"<{split}>") == "<***>"
    inside = json.dumps({"a": [split]})
    assert json.loads(Redactor([PLAIN]).redact(inside)) == {"a": ["***"]}


def test_a_separator_that_also_belongs_to_the_text_around_does_not_hide_the_secret():
    """`\\n` before `ey...` could be a line break and the rest of a key that begins with n."""
    redact = Redactor(["nothing-to-see-1"]).redact
    assert redact("C:\\nothing-to-see-1") == "C:\\***"
    assert redact("&lt;nothing-to-see-1") == "&lt;***"
    assert redact("100%nothing-to-see-1") == "100%***"


def test_a_secret_with_blanks_is_found_wrapped_and_one_of_words_stays_apart():
    redact = Redactor(["correct horse battery"]).redact
    assert redact("x correct\nhorse\n  battery y") == "x *** y"
    assert Redactor(["secret1"]).redact("secret 1, se cret1") == "secret 1, se cret1"
    assert Redactor(["secret12"]).redact("secret 12") == "***"


@pytest.mark.parametrize("cut", ["…", "\\u2026", "&hellip;", " …"])
def test_the_beginning_of_a_secret_before_a_cut_goes_too(cut):
    redact = Redactor([PLAIN]).redact
    for form in (PLAIN, PLAIN.encode().hex()):
        assert re.fullmatch(r"it said \*\*\* ?\S+ and", redact(f"it said {form[:14]}{cut} and"))
    assert redact("it said sk-li… and") == "it said sk-li… and", "five characters are no beginning"


def test_every_invisible_character_is_a_separator():
    categories = ("Cc", "Cf", "Zs", "Zl", "Zp")
    signs = [chr(n) for n in range(sys.maxunicode + 1)]
    left = [
        s
        for s in signs
        if unicodedata.category(s) in categories and squeeze(f"é{s}") != b"\xc3\xa9"
    ]
    assert left == []
    assert squeeze("aÉ日😀…-_.\"'Z") == "aÉ日😀…+/.\"'z".encode()


@given(st.lists(st.sampled_from([*SEPARATORS, "a", "é", "日", "😀", "\ud800"]), max_size=30))
def test_each_byte_is_found_where_it_was(pieces):
    text = "".join(pieces)
    tight = squeeze(text)
    found = find_places(text, range(len(tight)))
    owners = [text[found[n]].encode("utf-8", "surrogatepass") for n in range(len(tight))]
    assert all(tight[n] in owner for n, owner in enumerate(owners))
    assert [*found.values()] == sorted(found.values())


def test_records_are_scrubbed_before_anybody_quotes_from_them():
    scrub = Redactor([PLAIN]).scrub
    clean = Response(answer="nothing", retrieved=(Document(id="d", text="t"),))
    assert scrub(clean) is clean
    call = ToolCall(
        name=f"f {PLAIN}", arguments={PLAIN: [1, None, f"\u200b{PLAIN[:9]}\n{PLAIN[9:]}"]}
    )
    found = scrub(Response(answer="é", steps=(call,), model=PLAIN, retrieved=(Document(id=PLAIN),)))
    assert found.steps == (ToolCall(name="f ***", arguments={"***": [1, None, "\u200b***"]}),)
    assert (found.model, found.retrieved) == ("***", (Document(id="***"),))


def test_a_long_answer_full_of_split_secrets_takes_seconds_not_hours():
    split = "\u200b".join(PLAIN)
    text = f"é {split}… " * 20_000
    assert Redactor([PLAIN]).redact(text) == "é ***… " * 20_000
    hostile = "<" * 200_000 + "&amp;" * 40_000 + "\\" * 200_000 + "%" * 100_000 + "\x1b[" * 100_000
    hostile += "sk-live…" * 50_000
    assert cpu_seconds(lambda: Redactor([PLAIN]).redact(hostile)) < 20


def test_many_lines_cost_little():
    """A guard against a wrong order of growth, not a benchmark: the figure is about 20 ms."""
    redact = Redactor(["sk-" + "a1B2" * 12, "ghp_" + "0f3c" * 10]).redact
    lines = [f'{{"output": "{n} ' + "lorem ipsum " * 80 + '"}' for n in range(5000)]
    assert calls(lambda: [redact(line) for line in lines]) < 5000 * 50  # 17
    assert cpu_seconds(lambda: [redact(line) for line in lines]) < 5


def test_ten_times_the_secrets_take_no_longer_to_look_for():
    """A look-up a word of the text, where a search a form would take ten times as long."""
    few, many = (
        Redactor(f"sk-{hashlib.sha256(str(k).encode()).hexdigest()}" for k in range(n))
        for n in (4, 40)
    )
    lines = [f'{{"output": "{n} ' + "lorem ipsum\\n" * 150 + '"}' for n in range(300)]

    def work(redact):
        assert all(redact(line) is line for line in lines)

    assert calls(lambda: work(many)) < 3 * calls(lambda: work(few))
    assert cpu_seconds(lambda: work(many)) < 5


def test_a_run_of_one_sign_takes_little_memory():
    tracemalloc.start()
    try:
        assert Redactor(["x" * 8])("x" * 300_000) == "***"
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
