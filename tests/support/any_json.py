"""Strategies for JSON that nobody expects."""

import copy

from hypothesis import strategies as st

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def places(data, path=()):
    """The paths of everything in `data`."""
    yield path
    if isinstance(data, (dict, list)):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(item, (*path, key))


@st.composite
def spoilt(draw, valid):
    """`valid` with one or two of its parts replaced by anything."""
    data = copy.deepcopy(valid)
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(list(places(data))))
        if not path:
            return draw(ANY_JSON)
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = draw(ANY_JSON)
    return data


HOSTILE_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**70), 10**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["\x1b[31m", "a\0b", "<script>", "::error::x", "..", "HTTP Error 502"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
