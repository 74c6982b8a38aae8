"""The sample database: loading, errors, and that nothing but reading is possible."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gate.agents.sample_agent.database import load_database, open_image, query
from gate.errors import UsageError
from gate.files import bundled

FOLDER = bundled.folder() / "analytics" / "database"


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with closing(open_image(load_database(FOLDER).image)) as opened:
        yield opened


def test_size_and_structure() -> None:
    database = load_database(FOLDER)
    with closing(open_image(database.image)) as opened:
        counts = {
            table: query(opened, f"SELECT count(*) AS n FROM {table}", max_rows=1)[0]["n"]
            for table in database.tables
        }
    assert len(counts) >= 5
    assert sum(int(n) for n in counts.values() if n) >= 2000
    assert database.tables["orders"].references == {
        "customer_id": "customers",
        "product_id": "products",
    }
    assert database.values["region"] == ("APAC", "EMEA", "LATAM", "North America")
    assert "contact_email" not in database.values
    assert database.today == "2026-06-30"


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM customers",
        "UPDATE orders SET amount_usd = 0",
        "INSERT INTO snapshot VALUES ('2030-01-01')",
        "DROP TABLE orders",
        "CREATE TABLE more (a)",
        "ATTACH 'other.db' AS other",
        "PRAGMA writable_schema = 1",
        "VACUUM INTO 'copy.db'",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM customers",
    ],
)
def test_everything_but_reading_is_refused(connection: sqlite3.Connection, sql: str) -> None:
    before = query(connection, "SELECT count(*) AS n FROM customers", max_rows=1)
    with pytest.raises(sqlite3.Error):
        query(connection, sql, max_rows=1)
    assert query(connection, "SELECT count(*) AS n FROM customers", max_rows=1) == before


def test_a_query_without_end_is_stopped_and_the_next_one_runs(
    connection: sqlite3.Connection,
) -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(x) FROM c"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        query(connection, endless, max_rows=1)
    assert query(connection, "SELECT 1 AS one", max_rows=1) == [{"one": 1}]


def test_rows_are_limited(connection: sqlite3.Connection) -> None:
    assert len(query(connection, "SELECT order_id FROM orders", max_rows=7)) == 7


def test_two_connections_share_nothing() -> None:
    image = load_database(FOLDER).image
    with closing(open_image(image)) as one, closing(open_image(image)) as other:
        assert query(one, "SELECT count(*) AS n FROM orders", max_rows=1) == query(
            other, "SELECT count(*) AS n FROM orders", max_rows=1
        )


def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "database"))


def test_an_empty_field_is_null(tmp_path: Path) -> None:
    with closing(open_image(load_database(copy(tmp_path)).image)) as opened:
        found = query(opened, "SELECT count(*) AS n FROM tickets WHERE rating = ''", max_rows=1)
    assert found == [{"n": 0}]


def test_missing_files_and_wrong_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"schema\.sql: not found"):
        load_database(tmp_path)
    folder = copy(tmp_path)
    (folder / "plans.csv").write_text("plan,price\nBasic,1\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"plans\.csv:1: the columns must be plan, monthly"):
        load_database(folder)
    (folder / "plans.csv").unlink()
    with pytest.raises(UsageError, match=r"plans\.csv: cannot fill table plans"):
        load_database(folder)


def test_a_row_with_too_few_fields_is_named(tmp_path: Path) -> None:
    folder = copy(tmp_path)
    with (folder / "plans.csv").open("a", encoding="utf-8") as file:
        file.write("Extra,1\n")
    with pytest.raises(UsageError, match=r"plans\.csv: cannot fill table plans"):
        load_database(folder)
