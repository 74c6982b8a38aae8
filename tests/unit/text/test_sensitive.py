"""Secrets and personal data: what is found, what is only alike, and what of it may be shown."""

import pytest

from gate.graders.safety_rules.excerpts import cut_excerpt, strip_invisible
from gate.text.sensitive import PERSONAL, SECRETS, SHAPES, find_sensitive, mask_match
from tests.support.growth import cpu_seconds

RANDOM = "aZ3kQ9xV" * 6  # built here, so that no scanner takes this file for a leak
SECRET = {
    "api_key": "sk-proj-" + RANDOM,
    "aws_key": "AKIA" + "ABCD2345" * 2,
    "github_token": "ghp_" + RANDOM[:36],
    "slack_token": "xoxb-" + "1234567890-" + RANDOM[:24],
    "google_key": "AIza" + RANDOM[:35],
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0." + RANDOM[:20],
    "bearer_token": "Bearer " + RANDOM[:24],
    "url_password": "https://ann:hunter2x@db.example.net/x",
    "password": "password: Tr0ub4dor&3x",
    "private_key": "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
}
PERSON = {
    "email": "ann.lee@mail.example.org",
    "iban": "GB82 WEST 1234 5698 7654 32",
    "card": "4111 1111 1111 1111",
    "ssn": "078-05-1120",
    "phone": "+44 20 7946 0958",
    "ip": "192.168.10.254",
}


def kinds(text):
    return [one.kind for one in find_sensitive(text)]


def test_each_kind_has_an_example_here():
    assert set(SECRET) == set(SECRETS) == {s.kind for s in SHAPES} - set(PERSONAL)
    assert set(PERSON) == set(PERSONAL)


@pytest.mark.parametrize(("kind", "text"), [*SECRET.items(), *PERSON.items()])
def test_it_is_found_in_a_sentence_and_nothing_else_is(kind, text):
    assert kinds(f"It is {text}, as you see.") == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Revenue was 1,234,567.89 USD on 2025-06-30, 4.2 % more.",
        "Install sk-learn-contrib-something-long and react@18.2.0.",
        "git clone git@github.com:acme/assistant.git",
        "Write postgres://user:password@host/db or https://<user>:<key>@host.",
        "The password is required. token: null, secret=${SECRET}, api_key: your-api-key-1234",
        "max_tokens: 4096, token = getToken2()",
        "card 4111 1111 1111 1112, order 1700000000000, IBAN DE00 1234 5678 9012 3456 78",
        "666-12-3456, 000-12-3456, 900-12-3456, 123-00-4567",
        "version 1.2.3.999, id 12345678-90",
        "bearer of bad-news-for-everybody",
        "order 1234567812345670, tracking 9400110200881234567897",  # no issuer's first digit
        "password: aaaaaaaaaaa1, secret=abababababab12",  # no more than words
        "token=aB3dE6gH9",  # nine signs
    ],
)
def test_what_is_only_alike_is_left_alone(text):
    assert kinds(text) == []


def test_a_secret_is_no_address_even_where_only_addresses_are_looked_for():
    assert find_sensitive("https://ann:hunter2x@db.example.net/x", ["email"]) == []
    assert [one.kind for one in find_sensitive("a@b.example", ["email"])] == ["email"]


@pytest.mark.parametrize("kind", SECRET)
def test_an_excerpt_shows_no_more_of_a_secret_than_whose_key_it_is(kind):
    text = f"The one for the shop is {SECRET[kind]} and nobody else has it."
    (found,) = find_sensitive(text)
    shown = cut_excerpt(text, found.start, found.end)
    assert "***" in shown
    for start in range(4, len(found.value) - 5):
        assert found.value[start : start + 6] not in shown


def test_an_excerpt_masks_what_stands_beside_its_place_also_cut():
    text = SECRET["github_token"] + " then rm it, " + SECRET["api_key"] + " for ann@acme.example"
    at = text.index("rm it")
    shown = cut_excerpt(text, at, at + 5)
    assert "rm it" in shown
    assert RANDOM[:6] not in shown
    assert "ann@" not in shown
    inside = cut_excerpt(text, 10, 12)  # a place within a secret
    assert RANDOM[4:10] not in inside


def test_an_excerpt_is_what_stands_around_its_place():
    text = "before " * 100 + "HERE" + " after" * 100
    shown = cut_excerpt(text, 700, 704)
    assert "HERE" in shown
    assert len(shown) <= 50 + 4 + 50


def test_of_an_address_the_first_letter_and_the_host_are_shown():
    (found,) = find_sensitive("ann@acme.example")
    assert mask_match(found) == "a***@acme.example"


def test_a_letter_before_it_hides_no_token_with_a_sign_of_its_own():
    assert kinds("x0" + SECRET["github_token"]) == ["github_token"]
    assert kinds("0github_pat_" + RANDOM[:30]) == ["github_token"]


def test_signs_of_no_width_hide_nothing():
    hidden = "\u200b".join(SECRET["github_token"])
    assert kinds(hidden) == []
    assert kinds(strip_invisible(hidden)) == ["github_token"]


@pytest.mark.parametrize(
    "piece",
    ["a.", "-1", "eyJ-", "a@b.", "-----BEGIN ", "1 ", "password=", "://a:", "sk-", "GB82 ", "1:",
     "bearer ", "token is ", "xoxb-", "@", "+1 "],
)  # fmt: skip
def test_a_text_made_to_be_slow_is_read_at_once(piece):
    assert cpu_seconds(lambda: find_sensitive(piece * (200_000 // len(piece)))) < 5
