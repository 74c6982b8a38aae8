"""The sample database: CSV files become an SQLite image in memory that each worker opens."""

from __future__ import annotations

import csv
import itertools
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from gate.errors import UsageError

Value = str | int | float | None
_READING = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_STRIDE, _STRIDES = 100_000, 200  # virtual machine steps; our heaviest question needs one stride


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseTable:
    """`columns`: name -> declared type; `references`: own column -> the table it points to."""

    columns: Mapping[str, str]
    references: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """`image`: all rows, for `open_image`. `values`: text column -> what questions may name."""

    image: bytes
    tables: Mapping[str, DatabaseTable]
    values: Mapping[str, tuple[str, ...]]
    today: str  # the last day that the data cover, ISO


def load_database(folder: Path) -> Database:
    """The database of `schema.sql` and one `<table>.csv` a table; an empty field is NULL.

    Raises UsageError when a file is missing or does not fit its table.
    """
    schema = folder / "schema.sql"
    if not schema.is_file():
        raise UsageError(f"{schema}: not found - the sample agent's data are missing")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.read_text(encoding="utf-8"))
        tables = {name: _structure(connection, name) for name in _names(connection)}
        for name, table in tables.items():
            _fill(connection, name, tuple(table.columns), folder / f"{name}.csv")
        connection.commit()
        return Database(
            image=connection.serialize(),
            tables=tables,
            values=_text_values(connection, tables),
            today=str(connection.execute("SELECT max(taken_on) FROM snapshot").fetchone()[0]),
        )


def open_image(image: bytes) -> sqlite3.Connection:
    """A private connection that refuses everything but reading; another thread may close it."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.deserialize(image)
    connection.set_authorizer(_only_reading)
    return connection


def query(connection: sqlite3.Connection, sql: str, *, max_rows: int) -> list[dict[str, Value]]:
    """The answer of the database: at most `max_rows` rows, column -> value. Raises sqlite3.Error:
    not valid, not allowed, or too long at it.
    """
    strides = itertools.count(1)
    connection.set_progress_handler(lambda: int(next(strides) > _STRIDES), _STRIDE)
    with closing(connection.execute(sql)) as cursor:
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(max_rows)]


def _names(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    return [str(name) for (name,) in rows]


def _structure(connection: sqlite3.Connection, table: str) -> DatabaseTable:
    kinds = connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,))
    links = connection.execute(
        'SELECT "from", "table" FROM pragma_foreign_key_list(?) ORDER BY id DESC', (table,)
    )
    return DatabaseTable(columns=dict(kinds.fetchall()), references=dict(links.fetchall()))


def _text_values(
    connection: sqlite3.Connection, tables: Mapping[str, DatabaseTable]
) -> dict[str, tuple[str, ...]]:
    """Ids, dates, states and addresses are no values that a question names."""
    values = {}
    for name, table in tables.items():
        for column, kind in table.columns.items():
            if kind == "TEXT" and not column.endswith(("_on", "_status", "_email", "_level")):
                sql = f'SELECT DISTINCT "{column}" FROM "{name}" WHERE "{column}" IS NOT NULL'  # noqa: S608
                values[column] = tuple(sorted(str(value) for (value,) in connection.execute(sql)))
    return values


def _fill(connection: sqlite3.Connection, table: str, names: tuple[str, ...], path: Path) -> None:
    marks = ", ".join("?" * len(names))
    try:
        sql = f'INSERT INTO "{table}" VALUES ({marks})'  # noqa: S608 - a name of our schema
        connection.executemany(sql, _rows(path, names))
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"{path}: cannot fill table {table}: {error}") from error


def _rows(path: Path, names: tuple[str, ...]) -> Iterator[tuple[Value, ...]]:
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.reader(lines)
        if tuple(next(reader, ())) != names:
            raise UsageError(f"{path}:1: the columns must be {', '.join(names)}")
        for row in reader:
            yield tuple(field if field != "" else None for field in row)


def _only_reading(
    action: int, _first: str | None, second: str | None, _database: str | None, _view: str | None
) -> int:
    loads_code = action == sqlite3.SQLITE_FUNCTION and second == "load_extension"
    return sqlite3.SQLITE_OK if action in _READING and not loads_code else sqlite3.SQLITE_DENY
