"""GitHub for the tests of what speaks with it; a file that needs another one has its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gate.github.api import Api, Time
from tests.support.github_server import REPOSITORY, GitHub, serving


@pytest.fixture
def github() -> Iterator[GitHub]:
    """Empty, and at the end no request may have broken GitHub's own description."""
    with serving(GitHub()) as server:
        yield server
        assert server.violations == []


@pytest.fixture
def api(github: GitHub) -> Iterator[Api]:
    """A client that waits for nothing."""
    clock = Time(sleep=lambda seconds: None)
    client = Api(github.url, "token", REPOSITORY, clock=clock, http_on_loopback=True)
    yield client
    client.close()
