"""How long to wait before GitHub is asked again."""

from __future__ import annotations

import pytest
from requests.structures import CaseInsensitiveDict

from gate.github.retry import Refusal, wait

NOW = 1_795_176_000.0  # Fri, 20 Nov 2026 12:00:00 GMT


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Fri, 20 Nov 2026 12:00:09 GMT", 9.0),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 1.0),
        ("tomorrow", 60.0),
    ],
)
def test_a_proxy_may_say_it_as_a_date(date: str, seconds: float) -> None:
    headers = CaseInsensitiveDict({"Retry-After": date})
    assert wait(Refusal(status=429, headers=headers, said=""), tried=1, now=NOW) == seconds


def test_the_servers_own_clock_counts() -> None:
    dates = {
        "Retry-After": "Fri, 20 Nov 2026 13:00:09 GMT",
        "Date": "Fri, 20 Nov 2026 13:00:00 GMT",
    }
    refusal = Refusal(status=429, headers=CaseInsensitiveDict(dates), said="")
    assert wait(refusal, tried=1, now=NOW) == 9.0
