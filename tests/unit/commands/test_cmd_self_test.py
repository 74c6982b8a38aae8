"""`gate --self-test`: a line a check, and 70 for an installation that is not whole."""

import pytest

from gate.commands import self_test
from gate.commands.options.all import parse

CHECKS = (
    *("plug-ins", "schemas", "bundled datasets", "writing", "text", "certificates"),
    "sample agent, judged",
)


def lines(capsys: pytest.CaptureFixture, **env: str) -> tuple[int, list[str]]:
    code = self_test.run(parse(["--self-test"]), env)
    return code, capsys.readouterr().out.splitlines()[1:]


def test_a_whole_installation_is_ok(capsys: pytest.CaptureFixture) -> None:
    code, said = lines(capsys)
    assert code == 0
    assert [line.partition("  ")[0] for line in said] == ["ok"] * len(CHECKS)
    assert [line[8:].partition(":")[0] for line in said] == list(CHECKS)


def test_one_broken_part_is_named_and_the_others_are_still_looked_at(
    capsys: pytest.CaptureFixture,
) -> None:
    code, said = lines(capsys, SSL_CERT_FILE="/nowhere.pem")
    assert code == 70
    assert [line[8:].partition(":")[0] for line in said] == list(CHECKS)
    (broken,) = (line for line in said if not line.startswith("ok"))
    assert broken.startswith("FAILED  certificates: ")
    assert "/nowhere.pem" in broken
