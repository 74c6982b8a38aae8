"""What every retriever type keeps to, held against each one that is registered."""

import dataclasses
from pathlib import Path

import pytest

from gate.errors import InfraFailure, UsageError
from gate.files.json_schema import mismatches
from gate.plugins import RETRIEVERS, World, build
from gate.records import Case, PluginSpec
from gate.records.codec import schema_of
from tests.support.raw_server import RawServer, ok, scripted

SECRET = "s3cret-value-of-a-variable"
OPTIONS = {
    "http": {
        "url": f"http://user:{SECRET}@127.0.0.1:9/search?key={SECRET}",
        "headers": {"X-Key": SECRET},
        "body": {"key": SECRET, "q": "{{input}}"},
    },
    "python": {"callable": "./search.py:search"},
    "recorded": {"file": "run.txt"},
}
every = pytest.mark.parametrize("name", list(RETRIEVERS))


def made(name, options=None):
    options = OPTIONS[name] if options is None else options
    assert mismatches(schema_of(RETRIEVERS.get_class(name)), options) == []
    return build(RETRIEVERS, PluginSpec(name=name, options=options), Path())


@every
def test_it_is_a_frozen_record_that_equal_options_make_equal(name):
    retriever = made(name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        retriever.timeout_s = 1.0
    assert retriever == made(name)
    assert mismatches(schema_of(RETRIEVERS.get_class(name)), {**OPTIONS[name], "tiemout_s": 3})


@every
def test_the_runner_finds_what_it_needs(name):
    retriever = made(name, {**OPTIONS[name], "timeout_s": 5, "concurrency": 2})
    assert (retriever.timeout_s, retriever.concurrency) == (5.0, 2)
    assert retriever.requests_per_minute is None


@every
def test_neither_repr_nor_description_shows_a_secret(name):
    retriever = made(name)
    assert SECRET not in repr(retriever) + retriever.describe()
    assert name in retriever.describe()


@every
def test_what_is_not_there_is_told_before_the_first_question(name, tmp_path):
    world = World(env={}, root=tmp_path, section="retriever")
    with pytest.raises((InfraFailure, UsageError)) as caught:
        made(name).check(world)
    assert SECRET not in str(caught.value)
    named = {"http": "start the retriever there", "python": "search.py", "recorded": "run.txt"}
    assert named[name] in str(caught.value)


@every
def test_an_answer_is_empty_but_for_the_documents(name, tmp_path):
    (tmp_path / "search.py").write_text("def search(query):\n    return ['b', 'a']\n")
    (tmp_path / "run.txt").write_text("c Q0 a 1 1 t\nc Q0 b 2 2 t\n")
    world = World(env={}, root=tmp_path, section="retriever")
    with RawServer(scripted(ok(b'["b", "a"]'))) as server:
        connection = made(name, OPTIONS[name] | ({"url": server.url} if name == "http" else {}))
        connection = connection.connect(world)
        found = connection.ask(Case(id="c", input="q", keys={}), timeout_s=5)
        connection.close()
    assert (found.answer, [document.id for document in found.retrieved]) == ("", ["b", "a"])
