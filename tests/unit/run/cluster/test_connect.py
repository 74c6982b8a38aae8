"""Which clusters are refused before they get any work."""

import pytest

from gate.errors import UsageError
from gate.run.cluster.connect import check_versions, refuse_open_ways

OURS = {
    "python": "3.11.7.final.0",
    "agent-gate": "0.2",
    "dask": "2026.8.0",
    "distributed": "2026.8.0",
    "cloudpickle": "3.1.2",
    "msgpack": "1.2.4",
}


def told(scheduler=None, **workers):
    """What Dask tells; given are the packages that differ."""
    places = {"scheduler": {"packages": {**OURS, **(scheduler or {})}}}
    every = {f"tcp://{name}": {"packages": {**OURS, **odd}} for name, odd in workers.items()}
    return {"client": {"packages": OURS}, **places, "workers": every}


def test_the_same_versions_are_taken_and_so_are_other_patches_of_python():
    check_versions(told(a={}, b={"python": "3.11.9.final.0", "tornado": "1"}))


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"python": "3.12.1.final.0"}, r"worker tcp://b has Python 3\.12 \(here 3\.11\)"),
        ({"agent-gate": "0.1"}, r"worker tcp://b has agent-gate 0\.1 \(here 0\.2\)"),
        ({"agent-gate": None}, r"worker tcp://b has no agent-gate: install"),
        (
            {"distributed": "2025.1.0", "msgpack": "1.0"},
            r"has distributed 2025\.1\.0 \(here 2026\.8\.0\) and msgpack 1\.0 \(here 1\.2\.4\)",
        ),
        (
            {"cloudpickle": "2.0"},
            r"cloudpickle 2\.0 \(here 3\.1\.2\).*same versions everywhere",
        ),
    ],
)
def test_each_worker_with_another_version_is_named(odd, said):
    with pytest.raises(UsageError, match=said):
        check_versions(told(a={}, b=odd))


def test_so_is_the_scheduler():
    with pytest.raises(UsageError, match=r"dask: the scheduler has dask 2024\.1 \(here"):
        check_versions(told({"dask": "2024.1"}, a={}))


@pytest.mark.parametrize(
    "address", ["tls://10.0.0.5:8786", "wss://10.0.0.5:8786", "tcp://127.0.0.1:1", "localhost:8786"]
)
def test_secrets_are_sent_where_nobody_else_listens(address):
    refuse_open_ways([address])


@pytest.mark.parametrize("address", ["tcp://10.0.0.5:8786", "ws://example.org:1", "10.0.0.5:8786"])
def test_secrets_are_not_sent_in_the_clear(address):
    with pytest.raises(UsageError, match=rf"{address} is not encrypted.*use tls://"):
        refuse_open_ways(["tls://10.0.0.4:8786", address])
