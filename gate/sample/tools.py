"""The tools of the sample agent, and the trace of their calls."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gate.records import Json, ToolCall
from gate.sample.bm25 import Hit
from gate.sample.database import query
from gate.sample.faults import Faults
from gate.sample.knowledge import Knowledge
from gate.sample.options import SampleOptions

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


DEFINITIONS: Mapping[str, dict[str, Json]] = {
    "search_documents": _definition(
        "The documents that fit a query best", query="string", top_k="integer"
    ),
    "list_tables": _definition("Names of the tables of the database"),
    "describe_table": _definition("Columns of a table and of those it points to", table="string"),
    "run_sql": _definition("Rows of one SELECT statement, 50 at most", sql="string"),
}
_TYPES: Mapping[str, type] = {"string": str, "integer": int}


class ToolError(Exception):
    """A call that a tool refuses; the message goes into the trace."""


@dataclass(slots=True, kw_only=True)
class Toolbox:
    """The tools during one question. `steps` and `hits` grow with each call."""

    knowledge: Knowledge
    connection: sqlite3.Connection
    options: SampleOptions
    faults: Faults
    steps: list[ToolCall] = field(default_factory=list)
    hits: tuple[Hit, ...] = ()

    def call(self, name: str, arguments: dict[str, Json]) -> Json:
        """The tool's result; None when it is taken away, fails, or another one was called."""
        if name in self.options.no_tool:
            return None
        asked = name
        if self.faults.wrong_tool:
            name, arguments = _neighbour(name, self.knowledge)
        if self.faults.wrong_args:
            arguments = {f"{key}_value": value for key, value in arguments.items()} or {"all": 1}
        for _ in range(_REPEATS if self.faults.loop else 1):
            step = self._perform(name, arguments)
            self.steps.append(step)
        return step.result if name == asked else None

    def _perform(self, name: str, arguments: dict[str, Json]) -> ToolCall:
        tools: Mapping[str, Callable[..., Json]] = {
            "search_documents": self._search_documents,
            "list_tables": self._list_tables,
            "describe_table": self._describe_table,
            "run_sql": self._run_sql,
        }
        number = f"call-{len(self.steps) + 1}"
        try:
            _check(name, arguments)
            result = tools[name](**arguments)
        except (ToolError, sqlite3.Error) as error:
            return ToolCall(name=name, arguments=arguments, error=str(error), id=number)
        return ToolCall(name=name, arguments=arguments, result=result, id=number)

    def _search_documents(self, query: str, top_k: int) -> Json:
        skip = top_k if self.faults.flaky else 0
        self.hits = self.knowledge.index.search(query, top_k=top_k, skip=skip)
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
