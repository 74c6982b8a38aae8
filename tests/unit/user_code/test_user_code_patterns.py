"""Searches for patterns end, whatever the pattern and the text; and find what `re` finds."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from gate.errors import GraderFailure
from gate.user_code.patterns import is_short, search, weigh
from gate.user_code.processes import PROCESSES

# With a text on which Python's `re` takes for ever.
CATASTROPHIC = [
    (r"(a+)+$", "a" * 60 + "b"),
    (r"(a|aa)+$", "a" * 80 + "b"),
    (r"(a*)*b", "a" * 60),
    (r"(?:a?){40}a{40}b", "a" * 60),
    (r"((((a{1,3}){1,3}){1,3}){1,3}){1,3}b", "a" * 90),
    (r"((((a?){3}){3}){3}){3}b", "a" * 90),
    (r"((a*){3}){3}b", "a" * 1000),
    (r"(?:a|a)" * 40 + "b", "a" * 60),
    (r"(?#[)(a+)+$(?#])", "a" * 60 + "b"),
    (r"(?x) ( a + ) + $", "a" * 60 + "b"),
    (r"(a)?(?(1)(a+)+b|c)", "a" * 60),
    (r"(a*)\1*\1*\1*b", "a" * 3000),
]
POLYNOMIAL = [
    (r"a*a*a*a*b", "a" * 20_000),
    (r"\s+$", " " * 200_000 + "x"),
    (r"(?:ab){50000}c", "ab" * 100_000),
]
PLAIN = [
    *("Oslo", r"\b\d{4}-\d{2}-\d{2}\b", r"^- .+$", r"(?i)i am (?:sorry|unable)", r"colou?r"),
    *("(January|February|March) [0-9]{1,2}, (2019|2020)", r"@[\w.]+", r"\[\d+\]", "a++b"),
]


def late(pattern, text):
    began = time.monotonic()
    with pytest.raises(GraderFailure, match=r"the pattern '.*' took longer than 0\.1 s: simplify"):
        search(re.compile(pattern), text, seconds=0.1)
    return time.monotonic() - began


@pytest.mark.parametrize(("pattern", "text"), CATASTROPHIC)
def test_a_pattern_that_never_ends_ends_with_a_reason(pattern, text):
    assert not is_short(re.compile(pattern), len(text))
    assert late(pattern, text) < 30


@pytest.mark.parametrize(("pattern", "text"), POLYNOMIAL)
def test_a_pattern_that_takes_long_on_a_long_text_ends_with_a_reason(pattern, text):
    assert late(pattern, text) < 30
    assert search(re.compile(pattern), "x") is None


@pytest.mark.parametrize("pattern", PLAIN)
def test_a_plain_pattern_is_searched_here(pattern):
    text = "It was in Oslo, 2020-01-02. " * 50
    found = re.compile(pattern).search(text)
    assert search(re.compile(pattern), text) == (found and found.span())
    assert not PROCESSES.is_used


def test_after_one_that_was_ended_the_next_is_searched():
    late("(b+)+$", "b" * 60 + "c")
    assert search(re.compile("(b+)+$"), "c" + "b" * 60) == (1, 61)


def test_a_pattern_that_ran_out_three_times_is_not_tried_again():
    for _ in range(3):
        late("(d+)+$", "d" * 60 + "e")
    with pytest.raises(GraderFailure, match="3 times and is skipped from now on: simplify it"):
        search(re.compile("(d+)+$"), "d", seconds=0.1)
    assert search(re.compile("(d+)+$", re.IGNORECASE), "D") == (0, 1), "another pattern"


def test_many_threads_that_search_do_not_use_up_each_others_time():
    with ThreadPoolExecutor(8) as pool:
        slow = pool.submit(late, "(f+)+$", "f" * 60 + "g")
        others = [pool.submit(search, re.compile("(f|ff)+$"), "xf", seconds=1.0) for _ in range(7)]
        assert [one.result(10) for one in others] == [(1, 2)] * 7
        slow.result(10)


def test_an_odd_text_and_flags_cross_whole():
    pattern = re.compile("(\N{SNOWMAN}|\ud83d|É)+$", re.IGNORECASE | re.MULTILINE)
    for text in ("\ud83d\nx", "é\n", "\0\N{SNOWMAN}", "🙂\ud83d"):
        assert search(pattern, text) == pattern.search(text).span()


def test_where_to_start_is_kept():
    pattern = re.compile("^(ab|a)+c?")
    assert search(pattern, "abab", 0) == (0, 4)
    assert search(pattern, "abab", 2) is None


def test_elsewhere_is_found_what_re_finds():
    random = Random(7)
    pieces = ["a", "b", ".", "[ab]", "\\w", "^", "$", "(a|b)", "(?:ab|a)", "(?=b)", "\n"]
    signs = ["", "", "", "*", "+", "?", "{2}", "{1,3}", "+?", "*+"]
    flags = [0, re.IGNORECASE, re.MULTILINE, re.DOTALL, re.MULTILINE | re.IGNORECASE]
    tried = 0
    for _ in range(300):
        written = "".join(
            piece + ("" if piece in "^$" else random.choice(signs))
            for piece in random.choices(pieces, k=random.randint(1, 5))
        )
        pattern = re.compile(f"(?:(?:{written})|(?:a|aa)+b)", random.choice(flags))
        text = "".join(random.choices("abAB\n ", k=random.randint(0, 14)))
        tried += not is_short(pattern, len(text))
        found = pattern.search(text)
        assert search(pattern, text) == (found and found.span()), (pattern, text)
    assert tried == 300, "all of them were searched elsewhere"


def test_what_is_searched_here_is_short():
    """Of patterns that vary, on texts that nearly match: an estimate that is too low would hang."""
    random = Random(os.environ.get("GATE_TEST_SEED", "1"))
    signs = ["", "", "*", "+", "?", "{2}", "{3}", "{1,3}", "{0,2}", "*?", "*+", "{1,6}", "{30}"]

    def written(depth):
        return "|".join(
            "".join(
                (
                    f"({random.choice(['', '?:', '?>'])}{written(depth - 1)})"
                    if depth and random.random() < 0.5
                    else random.choice(["a", ".", "[ab]", "b"])
                )
                + random.choice(signs)
                for _ in range(random.randint(1, 3))
            )
            for _ in range(random.choice([1, 1, 2]))
        )

    worst, slowest = 0.0, ""
    for _ in range(400):
        pattern = re.compile(written(3) + random.choice(["", "c", "$"]))
        text = "a" * random.choice([10, 60, 300, 2000])
        if is_short(pattern, len(text)):
            began = time.process_time()
            pattern.search(text)
            took = time.process_time() - began
            worst, slowest = max((worst, slowest), (took, pattern.pattern))
    assert worst < 5.0, slowest


@pytest.mark.parametrize(
    ("pattern", "explodes"),
    [
        ("(a+)+", True),
        ("(?:a|b)*", True),
        ("(a{1,3}b?){4,}", True),
        ("(?>a+)+", False),
        ("(?:a+)*+", False),
        ("(a+b)?", False),
        (r"[(a+)+]", False),
        (r"\(a+\)+", False),
        ("[]a]+(b)", False),
        ("(abc)+", False),
    ],
)
def test_what_explodes(pattern, explodes):
    assert weigh(pattern).explodes is explodes


def test_a_pattern_of_any_size_is_weighed():
    assert not is_short(re.compile("a*" * 200), 200_000)
    assert not is_short(re.compile("(a|b)" * 90), 200_000)
