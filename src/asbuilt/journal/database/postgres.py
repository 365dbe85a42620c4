"""The journal in a Postgres schema: the same SQL through psycopg, few connections, a limit on every wait."""

from __future__ import annotations

import select
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.rows import dict_row

from asbuilt.errors import StoreFailed
from asbuilt.journal.database.pool import Pool
from asbuilt.journal.database.store import Dispatch, Row, for_postgres, refuse_newer

if TYPE_CHECKING:
    from asbuilt.journal.database.schema import Step
    from asbuilt.journal.ids import Segment

_NOW: Final = (
    "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS now"
)
_MIGRATION_LOCK: Final = 7_214_402_611
_POOL: Final = 2
"""Connections per process. With the engine's and two listeners, 8 workers use fewer than 48."""
_CHANNEL: Final = "asbuilt"
_LISTEN_S: Final = 5.0
TRANSPORT: Final[dict[str, Any]] = {
    "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 15_000,
}  # fmt: skip
"""Detect a lost server within 25 s; the system's own TCP timeout is about 15 minutes."""
_OPTIONS: Final = "-c search_path=asbuilt -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"


class PostgresSession:
    """A transaction on one connection."""

    def __init__(
        self, connection: psycopg.Connection[Row], now: str = "", dispatch: Dispatch | None = None
    ) -> None:
        self._connection = connection
        self._now = now
        self._dispatch = dispatch

    @property
    def now(self) -> str:
        """Return the database's time at the start of the transaction."""
        return self._now

    def rows(self, sql: str, **values: object) -> list[Row]:
        """Run a statement and return its rows."""
        cursor = self._connection.execute(for_postgres(sql), values)
        return cursor.fetchall() if cursor.description else []

    def run(self, sql: str, **values: object) -> int:
        """Run a statement and return the number of changed rows."""
        return self._connection.execute(for_postgres(sql), values).rowcount

    def wake(self) -> None:
        """Notify the workers. Only for requests of users, because each notification costs every listener."""
        self.run("SELECT pg_notify(:channel, '')", channel=_CHANNEL)

    def enqueue(self, segment: Segment) -> bool:
        """Enqueue a segment in this transaction; return False if this process has no engine."""
        if self._dispatch is not None:
            self._dispatch(self, segment)
        return self._dispatch is not None


class PostgresStore:
    """One database with a pool of connections."""

    is_shared = True

    def __init__(self, url: str, *, connections: int = _POOL) -> None:
        self._url = url
        self.dispatch: Dispatch | None = None
        self._pool = Pool(self._connect, is_usable, size=connections)

    def write(self) -> AbstractContextManager[PostgresSession]:
        """Begin a transaction; writers of the same plan wait for each other at its head row."""
        return self._transaction("BEGIN")

    def read(self) -> AbstractContextManager[PostgresSession]:
        """Begin a read-only snapshot."""
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def listen(self, wake: Callable[[], object], ended: threading.Event) -> None:
        """Call `wake` for every notification until `ended` is set; reconnect after 5 s."""
        while not ended.is_set():
            with suppress(psycopg.Error), self._connect() as connection:
                connection.execute(f"LISTEN {_CHANNEL}")
                # Notifications from before the connection existed were missed.
                wake()
                while not ended.is_set():
                    for _ in connection.notifies(timeout=_LISTEN_S):
                        wake()
            ended.wait(_LISTEN_S)

    def written_at(self) -> float | None:
        """Return None: only a query would tell."""
        return None

    def version(self) -> int:
        """Return the number of the newest migration; 0 if there is no version table."""
        with self.read() as session:
            known = session.rows("SELECT to_regclass('asbuilt.schema_version') IS NOT NULL AS known")
            return _version(session) if known[0]["known"] else 0

    def migrate(self, steps: Sequence[Step]) -> None:
        """Apply missing migrations, one process at a time, each in its own transaction."""
        applied = self.version()
        refuse_newer(applied, steps)
        if applied == max((step.number for step in steps), default=0):
            # A role that may not create schemas can use them.
            return
        with self.write() as session:
            session.run("SELECT pg_advisory_xact_lock(:lock)", lock=_MIGRATION_LOCK)
            session.run("CREATE SCHEMA IF NOT EXISTS asbuilt")
            session.run("CREATE TABLE IF NOT EXISTS asbuilt.schema_version (version integer NOT NULL)")
        for step in steps:
            with self.write() as session:
                session.run("SELECT pg_advisory_xact_lock(:lock)", lock=_MIGRATION_LOCK)
                if _version(session) >= step.number:
                    continue
                for statement in step.statements("postgres"):
                    session.run(statement)
                session.run("INSERT INTO schema_version (version) VALUES (:number)", number=step.number)

    def close(self) -> None:
        """Close the pool."""
        self._pool.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[PostgresSession]:
        try:
            with self._pool.take() as connection:
                # One round trip for both statements; a prepared statement can contain only one.
                began = connection.execute(f"{begin}; {_NOW}".encode(), prepare=False)
                began.nextset()
                try:
                    yield PostgresSession(connection, str(began.fetchall()[0]["now"]), self.dispatch)
                    connection.execute("COMMIT")
                except BaseException:  # rolled back, then raised again
                    if not connection.broken:
                        connection.execute("ROLLBACK")
                    raise
        except psycopg.Error as error:
            raise StoreFailed(
                f"the journal's database cannot be used: {str(error).strip() or type(error).__name__}",
                why="asbuilt takes no step that it cannot record.",
                next_step="`asbuilt config show store.url` shows the address; the database has to be up.",
            ) from error

    def _connect(self) -> psycopg.Connection[Row]:
        return psycopg.connect(
            self._url,
            autocommit=True,
            row_factory=dict_row,
            connect_timeout=10,
            options=_OPTIONS,
            **TRANSPORT,
        )


def is_usable(connection: psycopg.Connection[Row]) -> bool:
    """Return whether a connection is usable. Data on an idle connection means that the server closes it."""
    if connection.closed or connection.broken:
        return False
    watch = select.poll()
    watch.register(connection.fileno(), select.POLLIN)
    return not watch.poll(0)


def _version(session: PostgresSession) -> int:
    return int(session.rows("SELECT max(version) AS version FROM schema_version")[0]["version"] or 0)
