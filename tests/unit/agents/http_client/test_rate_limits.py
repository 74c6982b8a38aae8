from contextlib import nullcontext
from datetime import UTC, datetime

import pytest

from gate.agents.http_client.rate_limits import read_rate_limits
from gate.agents.http_client.session import HttpSession
from gate.errors import InfraFailure
from gate.system.pace import RateLimit
from tests.support.raw_server import RawServer, ok, scripted

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)


def openai(reset: str, *, name: str = "requests", limit: str = "60", remaining: str = "59"):
    return {
        f"x-ratelimit-limit-{name}": limit,
        f"x-ratelimit-remaining-{name}": remaining,
        f"x-ratelimit-reset-{name}": reset,
    }


def anthropic(reset: str, *, name: str = "requests"):
    return {
        f"anthropic-ratelimit-{name}-limit": "50",
        f"anthropic-ratelimit-{name}-remaining": "0",
        f"anthropic-ratelimit-{name}-reset": reset,
    }


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("12ms", 0.012),
        ("1m30.951s", 90.951),
        ("1h2m3s", 3723.0),
        ("250µs", 0.00025),
        ("7", 7.0),  # Azure
        ("7.66", 7.66),
        ("1795348803", 3.0),  # since 1970
    ],
)
def test_every_form_of_a_reset(reset, seconds):
    (found,) = read_rate_limits(openai(reset), NOW)
    assert (found.name, found.limit, found.remaining) == ("requests", 60.0, 59.0)
    assert found.reset_s == pytest.approx(seconds)


@pytest.mark.parametrize("reset", ["", "soon", "1x", "s", "-1s", "1s2", "9" * 400, "nan", "1 s"])
def test_a_reset_of_no_known_form_says_nothing(reset):
    assert read_rate_limits(openai(reset), NOW) == ()


@pytest.mark.parametrize(
    ("limit", "remaining"), [("-1", "-1"), ("0", "0"), ("many", "1"), ("", "")]
)
def test_a_limit_that_is_no_number_says_nothing(limit, remaining):
    """Azure sends -1 where it does not say."""
    assert read_rate_limits(openai("1s", limit=limit, remaining=remaining), NOW) == ()


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("2026-11-22T12:00:30Z", 30.0),
        ("2026-11-22T13:00:30+01:00", 30.0),
        ("2026-11-22T12:00:00.500Z", 0.5),
        ("2026-11-22T11:59:00Z", 0.0),
    ],
)
def test_times_of_anthropic(reset, seconds):
    (found,) = read_rate_limits(anthropic(reset), NOW)
    assert found == RateLimit(name="requests", limit=50.0, remaining=0.0, reset_s=seconds)


def test_a_time_counts_from_the_servers_own_date():
    headers = {**anthropic("2026-11-22T12:00:30Z"), "date": "Sun, 22 Nov 2026 12:00:10 GMT"}
    assert read_rate_limits(headers, NOW)[0].reset_s == 20.0


def test_all_limits_of_a_reply():
    headers = {
        **openai("1s", name="tokens"),
        **openai("1s"),
        **anthropic("2026-11-22T12:00:30Z", name="tokens"),
        **anthropic("2026-11-22T12:00:30Z", name="input-tokens"),
        **anthropic("2026-11-22T12:00:30Z", name="output-tokens"),
    }
    names = [found.name for found in read_rate_limits(headers, NOW)]
    assert names == ["requests", "tokens", "tokens", "input-tokens", "output-tokens"]
    assert read_rate_limits({"content-type": "application/json"}, NOW) == ()


@pytest.mark.parametrize("status", ["200 OK", "429 X"])
def test_whoever_asks_is_told_of_them_with_an_answer_and_with_a_refusal(status):
    heard = []
    headers = [f"{name}: {value}" for name, value in openai("6m0s").items()]
    with RawServer(scripted(ok(b"{}", *headers, status=status))) as server:
        session = HttpSession({}, hear=heard.append)
        with nullcontext() if status == "200 OK" else pytest.raises(InfraFailure):
            session.request("POST", server.url, headers={}, timeout_s=5.0)
        session.close()
    assert heard == [(RateLimit(name="requests", limit=60.0, remaining=59.0, reset_s=360.0),)]
