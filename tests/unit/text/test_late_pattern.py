import copy
import importlib
import pkgutil
import re

import pytest

import gate
from gate.text.late_pattern import _LatePattern, late_pattern


@pytest.mark.parametrize(("written", "text"), [("(?P<a>b)c", "abc"), (b"b+", b"abbc")])
def test_it_does_what_the_compiled_one_does(written, text):
    late, compiled = late_pattern(written, re.IGNORECASE), re.compile(written, re.IGNORECASE)
    assert late.search(text).span() == compiled.search(text).span()
    assert (late.match(text), late.fullmatch(text)) == (None, None)
    assert late.sub(text[:0], text) == compiled.sub(text[:0], text)
    assert late.split(text) == compiled.split(text)
    assert late.findall(text) == compiled.findall(text)
    assert [found.span() for found in late.finditer(text)] == [compiled.search(text).span()]
    for name in ("pattern", "flags", "groups", "groupindex"):
        assert getattr(late, name) == getattr(compiled, name)


def test_it_has_nothing_else():
    with pytest.raises(AttributeError):
        late_pattern("a").scanner  # noqa: B018
    assert copy.copy(late_pattern("a")).search("ba").start() == 1


def test_every_pattern_of_ours_can_be_compiled():
    found = []
    for module in pkgutil.walk_packages(gate.__path__, "gate."):
        if module.name == "gate.__main__":
            continue
        for value in vars(importlib.import_module(module.name)).values():
            found += [value] if isinstance(value, _LatePattern) else []
    assert len(found) > 70
    for pattern in found:
        re.compile(pattern.pattern, pattern.flags & ~re.UNICODE)
