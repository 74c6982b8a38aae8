"""Files as GitHub's API shows them."""

from typing import Any, cast

import pytest

from gate.errors import UsageError
from gate.github.api import Api
from gate.github.remote_repository import GitHubForge


class _Says:
    def __init__(self, said: Any) -> None:
        self._said = said

    def get(self, path: str, query: dict[str, str], *, needs: str) -> Any:
        return self._said


def test_a_link_that_leads_to_no_file_is_told() -> None:
    """GitHub gives the file for the others."""
    forge = GitHubForge(cast("Api", _Says({"type": "symlink", "target": "../x"})))
    with pytest.raises(UsageError, match=r"gate\.yml at main: a symbolic link"):
        forge.read("gate.yml", "main")
    assert GitHubForge(cast("Api", _Says([{"type": "symlink"}]))).read("gate.yml", "main") is None
