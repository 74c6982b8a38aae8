"""The tools of the sample agent, and the trace of their calls."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches

from gate.agents.sample_agent.arithmetic import evaluate
from gate.agents.sample_agent.bm25 import Hit
from gate.agents.sample_agent.database import query
from gate.agents.sample_agent.faults import PlantedFaults
from gate.agents.sample_agent.knowledge import Knowledge
from gate.agents.sample_agent.options import SampleOptions
from gate.files.json_values import as_object
from gate.records import CheckedJson, Json, ToolCall

_NOT_ARITHMETIC = re.compile(r"[^0-9.+*/() -]")
_NO_COLUMN = re.compile(r"no such column: (?:\w+\.)?(\w+)")
_NO_TABLE = re.compile(r"there is no table '(\w+)'")


def repair_call(failed: ToolCall, before: Sequence[ToolCall]) -> dict[str, Json] | None:
    """Other arguments for a failed call, out of its error and of what the calls before it told;
    None where nothing can be put right.
    """
    error, arguments = failed.error or "", as_object(failed.arguments)
    if failed.name == "calculate" and "an expression holds" in error:
        return _change_argument(
            arguments, "expression", _NOT_ARITHMETIC.sub("", str(arguments["expression"]))
        )
    if failed.name == "read_document" and "ids are like" in error:
        return _change_argument(arguments, "document_id", _id_in(str(arguments["document_id"])))
    if failed.name == "describe_table" and (unknown := _NO_TABLE.search(error)):
        return _change_argument(arguments, "table", f"{unknown[1]}s")
    if failed.name == "run_sql" and (unknown := _NO_COLUMN.search(error)):
        column = _nearest(unknown[1], before)
        return _change_argument(
            arguments, "sql", re.sub(rf"\b{unknown[1]}\b", column, str(arguments["sql"]))
        )
    return None


def _change_argument(arguments: dict[str, Json], key: str, value: str) -> dict[str, Json] | None:
    return {**arguments, key: value} if value and value != arguments[key] else None


def _id_in(text: str) -> str:
    """ "msg-004" for "message 4", "kb-035" for "kb-35"; empty without a number."""
    number = re.search(r"\d+", text)
    kind = "msg" if text.startswith("m") else "kb"
    return f"{kind}-{int(number[0]):03}" if number else ""


def _nearest(name: str, before: Sequence[ToolCall]) -> str:
    """The column of the tables described so far that is spelled most like it, else itself."""
    shapes: Iterator[CheckedJson] = (one.result for one in before if one.name == "describe_table")
    columns = [column for shape in shapes if shape for column in shape["columns"]]
    return next(iter(get_close_matches(name, columns, n=1)), name)


_MAX_ROWS = 50
_REPEATS = 4  # of every call, for an agent caught in a loop


def _definition(about: str, **properties: str) -> dict[str, Json]:
    return {
        "description": about,
        "parameters": {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in properties.items()},
            "required": list(properties),
            "additionalProperties": False,
        },
    }


DEFINITIONS: Mapping[str, dict[str, CheckedJson]] = {
    "search_documents": _definition(
        "The documents that fit a query best", query="string", top_k="integer"
    ),
    "list_tables": _definition("Names of the tables of the database"),
    "describe_table": _definition("Columns of a table and of those it points to", table="string"),
    "run_sql": _definition("Rows of one SELECT statement, 50 at most", sql="string"),
    "list_messages": _definition("Ids of the messages that a customer sent", customer="string"),
    "read_document": _definition(
        "The text of one document (kb-001) or message (msg-001)", document_id="string"
    ),
    "calculate": _definition(
        "The value of an arithmetic expression: numbers, + - * / and brackets", expression="string"
    ),
}
_TYPES: Mapping[str, type] = {"string": str, "integer": int}


class ToolError(Exception):
    """A call that a tool refuses; the message goes into the trace."""


@dataclass(slots=True, kw_only=True)
class Toolbox:
    """The tools during one question. `steps` grows with each call; `hits` are those of the last
    search, `found` those of all, each page once.
    """

    knowledge: Knowledge
    connection: sqlite3.Connection
    options: SampleOptions
    faults: PlantedFaults
    steps: list[ToolCall] = field(default_factory=list)
    hits: tuple[Hit, ...] = ()
    found: list[Hit] = field(default_factory=list)
    turns: int = 0  # model calls that were made so far
    _together: bool = False

    @contextmanager
    def one_turn(self) -> Iterator[None]:
        """The calls within are asked for at once, by one call of the model."""
        self._together, self.turns = True, self.turns + 1
        try:
            yield
        finally:
            self._together = False

    def call(self, name: str, arguments: dict[str, Json]) -> CheckedJson:
        """The tool's result; None when it is taken away, fails, or another one was called. A call
        that fails is made once more, where the error says how to mend it.
        """
        if name in self.options.no_tool:
            return None
        tool = name
        if self.faults.wrong_tool:
            name, arguments = _neighbour(name, self.knowledge)
        if self.faults.wrong_args:
            arguments = {f"{key}_value": value for key, value in arguments.items()} or {"all": 1}
        step = self._call_with_retry(name, arguments)
        again = repair_call(step, self.steps) if step.error else None
        if again is not None:
            step = self._call_with_retry(name, again)
        return step.result if name == tool else None

    def describe_table_once(self, table: str) -> CheckedJson:
        """What describe_table says, asked once a task."""
        results = (as_object(s.result) for s in self.steps if s.name == "describe_table")
        shape = next((one for one in results if one.get("table") == table), None)
        return shape or self.call("describe_table", {"table": table})

    def _call_with_retry(self, name: str, arguments: dict[str, Json]) -> ToolCall:
        for _ in range(_REPEATS if self.faults.loop else 1):
            if not self._together:
                self.turns += 1
            step = self._perform(name, arguments)
            self.steps.append(step)
        return step

    def _perform(self, name: str, arguments: dict[str, Json]) -> ToolCall:
        tools: Mapping[str, Callable[..., Json]] = {
            "search_documents": self._search_documents,
            "list_tables": self._list_tables,
            "describe_table": self._describe_table,
            "run_sql": self._run_sql,
            "list_messages": self._list_messages,
            "read_document": self._read_document,
            "calculate": lambda expression: evaluate(expression),
        }
        result, error = None, None
        try:
            _check(name, arguments)
            result = tools[name](**arguments)
        except (ToolError, ValueError, sqlite3.Error) as refusal:
            error = str(refusal)
        return ToolCall(
            name=name,
            arguments=arguments,
            result=result,
            error=error,
            id=f"call-{len(self.steps) + 1}",
            turn=self.turns - 1,
        )

    def _search_documents(self, query: str, top_k: int) -> Json:
        skip = top_k if self.faults.flaky else 0
        self.hits = self.knowledge.index.search(query, top_k=top_k, skip=skip)
        known_ids = {hit.page.id for hit in self.found}
        self.found += [hit for hit in self.hits if hit.page.id not in known_ids]
        return [
            {"id": hit.page.id, "title": hit.page.title, "score": round(hit.score, 4)}
            for hit in self.hits
        ]

    def _list_tables(self) -> Json:
        return list(self.knowledge.database.tables)

    def _describe_table(self, table: str) -> Json:
        tables = self.knowledge.database.tables
        if table not in tables:
            raise ToolError(f"there is no table {table!r}")
        references = {
            column: {"table": target, "columns": list(tables[target].columns)}
            for column, target in tables[table].references.items()
        }
        return {"table": table, "columns": dict(tables[table].columns), "references": references}

    def _run_sql(self, sql: str) -> Json:
        return query(self.connection, sql, max_rows=_MAX_ROWS)

    def _list_messages(self, customer: str) -> Json:
        if customer not in self.knowledge.database.values["customer_name"]:
            raise ToolError(f"there is no customer {customer!r}")
        sent = [message for message in self.knowledge.messages if message.sender == customer]
        return [{"id": m.page.id, "subject": m.page.title, "sent_on": m.sent_on} for m in sent]

    def _read_document(self, document_id: str) -> Json:
        page = self.knowledge.page(document_id)
        if page is None:
            raise ToolError(f"there is no document {document_id!r}: ids are like kb-001 or msg-001")
        sent = next((m for m in self.knowledge.messages if m.page is page), None)
        origin = {"from": sent.sender, "sent_on": sent.sent_on} if sent else {}
        return {"id": page.id, "title": page.title, **origin, "text": page.text}


def _check(name: str, arguments: Mapping[str, Json]) -> None:
    wanted = DEFINITIONS[name]["parameters"]["properties"]
    if set(arguments) != set(wanted):
        raise ToolError(
            f"{name} takes the arguments ({', '.join(wanted)}), not ({', '.join(arguments)})"
        )
    for key, value in arguments.items():
        if not isinstance(value, _TYPES[wanted[key]["type"]]):
            raise ToolError(f"{name}: {key} must be of type {wanted[key]['type']}")


def _neighbour(name: str, knowledge: Knowledge) -> tuple[str, dict[str, Json]]:
    """A call that is valid in itself and of no use for what was wanted."""
    if name in ("search_documents", "describe_table"):
        return "list_tables", {}
    return "describe_table", {"table": next(iter(knowledge.database.tables))}
