"""Retrievers in Python: functions, objects with `invoke`, their documents, and what goes wrong."""

import time

import pytest

from gate.agents.retrievers.python import PythonRetriever
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import World
from gate.records import Case, Document

CODE = '''
import asyncio, time
from uuid import UUID

import numpy as np

from gate.errors import InfraFailure


class Doc:
    """As LangChain has them."""

    def __init__(self, page_content, metadata, id=None):
        self.page_content, self.metadata, self.id = page_content, metadata, id


class Counted:
    made = 0

    def __init__(self):
        type(self).made += 1

    def invoke(self, query):
        return [self.made]


class Store:
    def invoke(self, query):
        return [Doc("T", {"id": "a"}), Doc("", {}, id=query), Doc("", {"doc_id": 3})]


store = Store()


class Async:
    async def invoke(self, query):
        await asyncio.sleep(0)
        return ["a"]


class Needy:
    def __init__(self, index):
        pass


class Plain:
    pass


def dicts(query):
    return (
        {"id": "a", "score": np.float32(0.5), "content": "T"},
        {"metadata": {"document_id": "b"}, "page_content": "U"},
    )


def ids(query):
    return [query, np.int64(7), UUID(int=1)]


def nothing(query):
    return []


def text(query):
    return "a"


def endless(query):
    return (str(n) for n in iter(int, 1))


def nameless(query):
    return [Doc("T", {"source": "x"})]


def nan(query):
    return [{"id": "a", "score": float("nan")}]


def hostile(query):
    class Bad:
        @property
        def id(self):
            raise RuntimeError("boom")
    return [Bad()]


def broken(query):
    raise ValueError("no index")


def gone(query):
    raise InfraFailure("the index is being rebuilt")


def slow(query):
    time.sleep(5)


async def slow_async(query):
    await asyncio.sleep(5)


number = 3
'''


@pytest.fixture
def world(tmp_path):
    (tmp_path / "search.py").write_text(CODE, encoding="utf-8")
    return World(env={}, root=tmp_path, section="retriever")


def ask(world, name, question="Why?", timeout_s=5.0):
    connection = PythonRetriever(callable=f"./search.py:{name}").connect(world)
    try:
        return connection.ask(Case(id="c", input=question, keys={}), timeout_s=timeout_s).retrieved
    finally:
        connection.close()


@pytest.mark.parametrize("name", ["Store", "store"])
def test_an_object_with_invoke_or_a_class_of_one(world, name):
    found = ask(world, name)
    assert found == (
        Document(id="a", text="T"),
        Document(id="Why?", text=""),
        Document(id="3", text=""),
    )


def test_dicts_and_plain_ids(world):
    assert ask(world, "dicts") == (
        Document(id="a", score=0.5, text="T"),
        Document(id="b", text="U"),
    )
    names = [document.id for document in ask(world, "ids")]
    assert names == ["Why?", "7", "00000000-0000-0000-0000-000000000001"]
    assert ask(world, "nothing") == ()


def test_async_ones_run_in_a_loop(world):
    assert ask(world, "Async") == (Document(id="a"),)


def test_a_class_is_made_once_for_the_check_and_all_workers(world):
    retriever = PythonRetriever(callable="./search.py:Counted")
    retriever.check(world)
    case = Case(id="c", input="Why?", keys={})
    for _ in range(3):
        connection = retriever.connect(world)
        assert connection.ask(case, timeout_s=5).retrieved == (Document(id="1"),)
        connection.close()


@pytest.mark.parametrize(
    ("name", "failure", "message"),
    [
        ("text", AgentFailure, "it returned str: return a list of documents"),
        ("endless", AgentFailure, "it returned generator: return a list of documents"),
        ("nameless", AgentFailure, "the documents[0].id is null; an id is needed"),
        ("nan", AgentFailure, "its documents cannot be read: ValueError"),
        ("hostile", AgentFailure, "its documents cannot be read: RuntimeError: boom"),
        ("broken", AgentFailure, "ValueError: no index"),
        ("gone", InfraFailure, "the index is being rebuilt"),
    ],
)
def test_whose_failure_it_is(world, name, failure, message):
    with pytest.raises(failure) as caught:
        ask(world, name)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["slow", "slow_async"])
def test_the_time_is_bounded(world, name):
    start = time.monotonic()
    with pytest.raises(AgentFailure, match=r"the retriever did not return within 0\.2 s"):
        ask(world, name, timeout_s=0.2)
    assert time.monotonic() - start < 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("./search.py:Needy", "cannot be created without arguments: TypeError"),
        ("./search.py:Plain", "is not a function and has no `invoke` method"),
        ("./search.py:number", "is not a function and has no `invoke` method"),
        ("./search.py:nope", "has no 'nope'"),
        ("./gone.py:f", "not found"),
        ("search", "write module:function"),
    ],
)
def test_what_is_wrong_is_told_before_the_first_question(world, name, message):
    with pytest.raises(UsageError) as caught:
        PythonRetriever(callable=name).check(world)
    assert message in str(caught.value)
