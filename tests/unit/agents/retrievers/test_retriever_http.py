"""Retrievers over HTTP: what is sent, where the documents stand, and what goes wrong."""

import json
from pathlib import Path

import pytest

from gate.agents.retrievers.http import DocumentPaths, HttpRetriever
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import World
from gate.records import Case, Document
from tests.support.raw_server import RawServer, hang, ok, scripted

WORLD = World(env={"KEY": "secret-key-1"}, root=Path(), section="retriever")
CASE = Case(id="c1", input=[{"role": "user", "content": "Why?"}], keys={"limit": 3})


def ask(retriever, timeout_s=5.0):
    connection = retriever.connect(WORLD)
    try:
        return connection.ask(CASE, timeout_s=timeout_s).retrieved
    finally:
        connection.close()


def answered(data, **fields):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    with RawServer(scripted(ok(raw))) as server:
        return ask(HttpRetriever(url=server.url, **fields))


def test_the_question_is_sent_with_the_key():
    seen = []

    def handler(peer):
        seen.append(peer.request())
        peer.answer(b"[]")

    with RawServer(handler) as server:
        assert ask(HttpRetriever(url=server.url, api_key_env="KEY")) == ()
        ask(HttpRetriever(url=server.url + "/s?q={{question}}&n={{case.limit}}", method="GET"))
    assert json.loads(seen[0][2]) == {"query": "Why?"}
    assert seen[0][1]["authorization"] == "Bearer secret-key-1"
    assert seen[1][0] == "GET /s?q=Why%3F&n=3 HTTP/1.1"


@pytest.mark.parametrize("key", [None, "retrieved", "documents", "results"])
def test_a_plain_list_or_an_object_that_has_one(key):
    listed = ["a", 7, {"id": "b", "score": 0.5, "text": "T"}]
    found = answered({key: listed} if key else listed)
    assert found == (Document(id="a"), Document(id="7"), Document(id="b", score=0.5, text="T"))


def test_a_search_engines_answer_by_paths():
    hit = {"_id": "b", "_score": 1.5, "_source": {"text": "T"}, "more": {}}
    paths = DocumentPaths(documents="hits.hits", id="_id", score="_score", text="_source.text")
    found = answered({"hits": {"total": 1, "hits": [hit]}}, response=paths)
    assert found == (Document(id="b", score=1.5, text="T"),)


@pytest.mark.parametrize(
    ("data", "fields", "message"),
    [
        ({"hits": []}, {}, "without a list of documents - set retriever."),
        ({"documents": "none"}, {}, "the documents is not a list"),
        ("a", {}, "the documents is not a list"),
        ([{"text": "no id"}], {}, "the documents[0] has the key text; an id, doc_id or"),
        (
            {"hits": {"hits": [{"text": "no id"}]}},
            {"response": DocumentPaths(documents="hits.hits")},
            "hits.hits[0] has the key text; an id",
        ),
        ([{"id": "a", "score": "high"}], {}, "the documents[0].score is not a number"),
        ([None], {}, "the documents[0] is not an object"),
        (
            {"a": 1},
            {"response": DocumentPaths(documents="a.b")},
            "nothing at 'a.b' (retriever.response.",
        ),
        (
            [{"a": 1}],
            {"response": DocumentPaths(id="_id")},
            "nothing at '_id' (retriever.response.id",
        ),
        (b"<html>", {}, "not JSON: <html>"),
        (b"[" * 100_000, {}, "not JSON"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_its_own_fault(data, fields, message):
    with pytest.raises(AgentFailure) as caught:
        answered(data, **fields)
    assert message in str(caught.value)


def test_ten_megabytes_are_read_and_thirty_are_not():
    text = "x" * 1_000_000
    assert len(answered([{"id": str(n), "text": text} for n in range(10)])) == 10
    with pytest.raises(AgentFailure, match="20 MB"):
        answered([{"id": str(n), "text": text} for n in range(30)])


def test_a_time_out_is_its_own_fault():
    with RawServer(hang) as server, pytest.raises(AgentFailure, match=r"0\.3 s"):
        ask(HttpRetriever(url=server.url), timeout_s=0.3)


@pytest.mark.parametrize(
    ("status", "failure", "hint"),
    [
        ("401 Unauthorized", InfraFailure, "retriever.api_key_env"),
        ("503 Service Unavailable", InfraFailure, "503"),
        ("404 Not Found", AgentFailure, "check the path in retriever.url"),
        ("500 Oops", AgentFailure, "500"),
    ],
)
def test_a_status_names_the_setting(status, failure, hint):
    def handler(peer):
        peer.request()
        peer.answer(b"no", status)

    with RawServer(handler) as server, pytest.raises(failure) as caught:
        ask(HttpRetriever(url=server.url))
    assert hint in str(caught.value)
    assert server.url in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"body": {"q": "{{qestion}}"}}, "retriever.body: unknown placeholder {{qestion}}"),
        ({"api_key_env": "NOPE"}, "retriever.api_key_env: the environment variable NOPE"),
    ],
)
def test_what_is_wrong_in_gate_yml_is_told_before_the_first_question(fields, message):
    with pytest.raises(UsageError) as caught:
        HttpRetriever(url="http://127.0.0.1:9", **fields).check(WORLD)
    assert message in str(caught.value)
