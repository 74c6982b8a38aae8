import pytest

from gate.analysis.outages import Transports


def transports(*rows):
    """Of (status, transport, how many)."""
    found = Transports()
    for status, transport, number in rows:
        for _ in range(number):
            found.add({"status": status, "transport": transport, "error": f"{transport} happened"})
    return found


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([("agent_error", "5xx", 10)], "5xx"),
        ([("agent_error", "5xx", 9), ("completed", None, 1)], "5xx"),
        ([("agent_error", "5xx", 8), ("completed", None, 2)], None),
        ([("agent_error", None, 10)], None),
        ([("agent_error", "5xx", 5), ("agent_error", "html", 5)], None),
        ([("infra_error", "5xx", 5), ("agent_error", "5xx", 5)], "5xx"),
        ([("infra_error", None, 2), ("agent_error", "html", 8)], "html"),
        ([("infra_error", None, 10)], None),
        ([], None),
    ],
)
def test_nearly_all_trials_of_one_kind_are_an_outage(rows, kind):
    found = transports(*rows).outage()
    assert (found.kind if found else None) == kind


def test_the_sentence_says_how_many_and_with_what():
    found = transports(("agent_error", "not_http", 19), ("completed", None, 1)).outage("asked")
    assert found.said == (
        "95 % of the asked got an answer that is not HTTP: an outage, so nothing was measured:"
        " not_http happened"
    )
    assert not found.answered
    assert transports(("agent_error", "html", 1)).outage().answered


def test_rows_of_other_versions_have_no_such_key():
    found = Transports()
    found.add({"status": "agent_error", "error": None})
    found.add({"status": "agent_error", "error": None, "transport": "of a later version"})
    assert found.outage() is None
