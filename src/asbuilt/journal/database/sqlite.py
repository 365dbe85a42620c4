"""The journal in one SQLite file, in WAL mode with synchronous FULL.

Rule: an answer that was shown as accepted survives a power failure.
"""

from __future__ import annotations

import shlex
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from asbuilt.errors import JournalDamaged, StoreFailed
from asbuilt.journal.database.pool import Pool
from asbuilt.journal.database.store import Dispatch, Row, for_sqlite, refuse_newer

if TYPE_CHECKING:
    from asbuilt.journal.database.schema import Step
    from asbuilt.journal.ids import Segment

_MAGIC: Final = b"SQLite format 3\0"
_HEAD: Final = 100
_LOOKS: Final = 5
_LOOK_S: Final = 0.1
_SUBSECONDS: Final = (3, 42)
"""First SQLite whose unixepoch() accepts 'subsec'. DBOS calls it on Python 3.12 and newer."""
_BUSY_MS: Final = 30_000
_WAL_TRIES: Final = 250
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NOW: Final = "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS now"


class SqliteSession:
    """A transaction on one connection."""

    def __init__(self, connection: sqlite3.Connection, dispatch: Dispatch | None = None) -> None:
        self.connection = connection
        self._dispatch = dispatch
        self._now: str | None = None

    @property
    def now(self) -> str:
        """Return the database's time, read once per transaction."""
        if self._now is None:
            self._now = str(self.rows(_NOW)[0]["now"])
        return self._now

    def rows(self, sql: str, **values: object) -> list[Row]:
        """Run a statement and return its rows."""
        cursor = self.connection.execute(for_sqlite(sql), values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def run(self, sql: str, **values: object) -> int:
        """Run a statement and return the number of changed rows."""
        return self.connection.execute(for_sqlite(sql), values).rowcount

    def wake(self) -> None:
        """Do nothing: workers on SQLite poll at short intervals."""

    def enqueue(self, segment: Segment) -> bool:
        """Enqueue a segment in this transaction; return False if this process has no engine."""
        if self._dispatch is not None:
            self._dispatch(self, segment)
        return self._dispatch is not None


class SqliteStore:
    """One file with a pool of connections."""

    is_shared = False

    def __init__(self, file: Path) -> None:
        self.file = file
        self.dispatch: Dispatch | None = None
        self._pool = Pool(self.connect, lambda connection: not connection.in_transaction)

    def write(self) -> AbstractContextManager[SqliteSession]:
        """Begin with the write lock: a read transaction that upgrades later could fail halfway."""
        return self._transaction("BEGIN IMMEDIATE")

    def read(self) -> AbstractContextManager[SqliteSession]:
        """Begin a snapshot."""
        return self._transaction("BEGIN")

    def listen(self, wake: Callable[[], object], ended: threading.Event) -> None:
        """Return at once: SQLite has no notifications."""

    def written_at(self) -> float | None:
        """Return when the write-ahead log was last written: every commit writes to it."""
        try:
            return self.file.with_name(f"{self.file.name}-wal").stat().st_mtime
        except FileNotFoundError:
            return None

    def version(self) -> int:
        """Return the file's `user_version`, the number of the newest migration."""
        with self.read() as session:
            return _version(session)

    def migrate(self, steps: Sequence[Step]) -> None:
        """Apply missing migrations; the version changes in the same transaction as the tables."""
        was_there = self.file.exists()
        # Read-only commands open the journal too, and must not wait for a writer.
        applied = self.version()
        refuse_newer(applied, steps)
        for step in (candidate for candidate in steps if candidate.number > applied):
            with self.write() as session:
                version = _version(session)
                if version >= step.number:
                    continue
                if version == 0 and was_there and self._had_runs():
                    raise damaged(self.file, "its tables are gone, and runs have been here")
                for statement in step.statements("sqlite"):
                    session.run(statement)
                session.run(f"PRAGMA user_version = {step.number}")

    def close(self) -> None:
        """Close the pool."""
        self._pool.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[SqliteSession]:
        try:
            with self._pool.take() as connection:
                connection.execute(begin)
                try:
                    yield SqliteSession(connection, self.dispatch)
                    connection.execute("COMMIT")
                except BaseException:  # rolled back, then raised again
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
        except sqlite3.DatabaseError as error:
            raise unusable(self.file, error) from error

    def _had_runs(self) -> bool:
        return any(self.file.parent.glob("runs/*"))

    def connect(self, *, synchronous: str = "FULL") -> _Connection:
        """Open a connection; the engine has its own, which sync only at checkpoints."""
        connection = _connected(self.file, lambda: refuse_damaged(self.file, had_runs=self._had_runs()))
        _use_wal(connection)
        for pragma in (f"synchronous={synchronous}", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        if sqlite3.sqlite_version_info < _SUBSECONDS:
            connection.create_function("unixepoch", 1, lambda _subsec: round(time.time(), 3))
        return connection


def unusable(file: Path, error: sqlite3.DatabaseError) -> StoreFailed:
    """Return the error for a journal that cannot be used, with the next step for the user."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _DAMAGE:
        return damaged(file, str(error))
    if code == sqlite3.SQLITE_BUSY:
        return StoreFailed(
            f"the journal {file} is held by another process",
            why=f"It was waited for {_BUSY_MS // 1000} s; asbuilt itself holds it for moments.",
            next_step=f"`fuser -v {shlex.quote(str(file))}` names who has it; end that, then try again.",
        )
    where = shlex.quote(str(file.parent))
    return StoreFailed(
        f"the journal {file} cannot be used: {error}",
        why="asbuilt takes no step that it cannot record.",
        next_step=f"`df -h {where}` shows its disk; or see its permissions: `ls -l {where}`",
    )


class _Connection(sqlite3.Connection):
    """A connection that is counted in `_OPEN` until it is closed."""

    file: Path | None = None
    view: Any = None
    """The engine's view of this connection, made when it first enqueues something."""

    def close(self) -> None:
        """Close the connection; can be repeated."""
        super().close()
        with _GUARD:
            if self.file is not None:
                _OPEN[self.file] -= 1
            self.file = None


_OPEN: Final[Counter[Path]] = Counter()
_GUARD: Final = threading.Lock()


def _connected(file: Path, look: Callable[[], None]) -> _Connection:
    """Connect to a file; call `look` first if this process has no connection to it.

    `look` opens and closes the file. Closing a file releases all POSIX locks of the process on it, including
    SQLite's. Then the next process that disconnects believes it is the last, deletes the WAL file, and later
    writes are lost.
    """
    real = file.resolve()
    with _GUARD:
        if not _OPEN[real]:
            look()
        connection = sqlite3.connect(
            file, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False, factory=_Connection
        )
        connection.file = real
        _OPEN[real] += 1
    return connection


def _version(session: SqliteSession) -> int:
    return int(session.rows("PRAGMA user_version")[0]["user_version"])


def _use_wal(connection: sqlite3.Connection) -> None:
    # SQLite does not wait for this lock: if many processes open a new file, all but one get "locked".
    for _ in range(_WAL_TRIES - 1):
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode=WAL")
            return
        time.sleep(0.02)
    connection.execute("PRAGMA journal_mode=WAL")


# Distinguish a damaged journal from a new one by its first bytes. Rule: never write to a damaged journal.
# SQLite treats an empty file as a new database, drops the WAL beside it, and writes into a damaged file; so
# it is not opened.


def refuse_damaged(file: Path, *, had_runs: bool) -> None:
    """Raise `JournalDamaged` if a journal is incomplete; `had_runs`: an empty file is damaged, not new."""
    looks = 1
    while (how := _damage_in(file, had_runs=had_runs)) is not None:
        if looks == _LOOKS:
            raise damaged(file, how)
        # Another process may be extending the file right now.
        looks += 1
        time.sleep(_LOOK_S)


def damaged(file: Path, how: str) -> JournalDamaged:
    """Return the error for a damaged journal, with the way to recover."""
    return JournalDamaged(
        f"the journal {file} is damaged: {how}",
        why="It is the only record of the runs, so asbuilt does not overwrite what remains of it.",
        next_step=f"`sqlite3 {shlex.quote(str(file))} .recover` shows what can still be read; or restore a"
        f" copy, with {file.name}-wal if there is one, or move it away to start a new one. What has landed is"
        " in git.",
    )


def _damage_in(file: Path, *, had_runs: bool) -> str | None:
    log = file.with_name(f"{file.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    try:
        with file.open("rb") as opened:
            head, size = opened.read(_HEAD), opened.seek(0, 2)
    except FileNotFoundError:
        return None
    if size == 0:
        return "it is empty, and runs have been here" if had_runs else None
    if len(head) < _HEAD or not head.startswith(_MAGIC):
        return "it is not a database any more"
    page = int.from_bytes(head[16:18], "big")
    whole = int.from_bytes(head[28:32], "big") * (65_536 if page == 1 else page)
    # The WAL may contain what the file lacks; SQLite merges them.
    return f"{whole - size} of its {whole} bytes are missing" if size < whole and not has_log else None
