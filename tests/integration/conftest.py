"""GitHub for the tests of whole actions; a file that needs another one has its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.github_server import GitHub, serving


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub()) as server:
        yield server
        assert server.violations == []
