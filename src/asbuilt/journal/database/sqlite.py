"""The journal in one SQLite file: WAL, and synchronous FULL.

The one rule: an answer that a person saw accepted does not vanish with the power.
"""

from __future__ import annotations

import shlex
import sqlite3
import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from asbuilt.errors import JournalDamaged, StoreFailed
from asbuilt.journal.database.pool import Pool
from asbuilt.journal.database.store import for_sqlite, refuse_newer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from asbuilt.journal.database.store import Migration, Row

_MAGIC: Final = b"SQLite format 3\0"
_HEAD: Final = 100
_LOOKS: Final = 5
_LOOK_S: Final = 0.1


_BUSY_MS: Final = 30_000
_WAL_TRIES: Final = 250
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NOW: Final = "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS now"


class SqliteSession:
    """A transaction on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._now: str | None = None

    @property
    def now(self) -> str:
        """Return the database's clock, read once per transaction."""
        if self._now is None:
            self._now = str(self.rows(_NOW)[0]["now"])
        return self._now

    def rows(self, sql: str, **values: object) -> list[Row]:
        """Run a statement and return what it gives."""
        cursor = self._connection.execute(for_sqlite(sql), values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def run(self, sql: str, **values: object) -> int:
        """Run a statement and return how many rows it changed."""
        return self._connection.execute(for_sqlite(sql), values).rowcount

    def poke(self) -> None:
        """Do nothing: whoever has a file looks often."""


class SqliteStore:
    """One file and a few connections to it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._pool = Pool(self._connect, lambda connection: not connection.in_transaction)

    @contextmanager
    def write(self) -> Iterator[SqliteSession]:
        """Begin at once with the write lock: a transaction that upgrades later could fail in its middle."""
        with self._transaction("BEGIN IMMEDIATE") as session:
            yield session

    @contextmanager
    def read(self) -> Iterator[SqliteSession]:
        """Begin a snapshot."""
        with self._transaction("BEGIN") as session:
            yield session

    def listen(self, poked: Callable[[], object], ended: threading.Event) -> None:
        """Return: nobody pokes."""

    def version(self) -> int:
        """Read the number that a step leaves in the file."""
        with self.read() as session:
            return _version(session)

    def migrate(self, steps: Sequence[Migration]) -> None:
        """Apply what is missing; the version changes in the same transaction as the tables."""
        was_there = self._file.exists()
        # Whoever only looks opens the journal too, and waits for no writer.
        applied = self.version()
        refuse_newer(applied, steps)
        for step in (one for one in steps if one.number > applied):
            with self.write() as session:
                version = _version(session)
                if version >= step.number:
                    continue
                if version == 0 and was_there and self._had_runs():
                    raise damaged(self._file, "its tables are gone, and runs have been here")
                for statement in step.statements("sqlite"):
                    session.run(statement)
                session.run(f"PRAGMA user_version = {step.number}")

    def close(self) -> None:
        """Close what is open."""
        self._pool.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[SqliteSession]:
        try:
            with self._pool.take() as connection:
                connection.execute(begin)
                try:
                    yield SqliteSession(connection)
                    connection.execute("COMMIT")
                except BaseException:  # undone, and raised again
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
        except sqlite3.DatabaseError as error:
            raise unusable(self._file, error) from error

    def _had_runs(self) -> bool:
        return any(self._file.parent.glob("runs/*"))

    def _connect(self) -> sqlite3.Connection:
        connection = _connected(self._file, lambda: refuse_damaged(self._file, had_runs=self._had_runs()))
        _use_wal(connection)
        for pragma in ("synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        return connection


def unusable(file: Path, error: sqlite3.DatabaseError) -> StoreFailed:
    """Say why a journal cannot be used, and who can change that."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _DAMAGE:
        return damaged(file, str(error))
    if code == sqlite3.SQLITE_BUSY:
        return StoreFailed(
            f"the journal {file} is held by another process",
            why=f"It was waited for {_BUSY_MS // 1000} s; asbuilt itself holds it for moments.",
            next_step=f"`fuser -v {shlex.quote(str(file))}` names who has it; end that, then try again.",
        )
    return StoreFailed(
        f"the journal {file} cannot be used: {error}",
        why="Nothing may happen that cannot be written down.",
        next_step="Look at the disk's space and permissions; `asbuilt doctor` looks at the rest.",
    )


class _Connection(sqlite3.Connection):
    """A connection that counts as open until it is closed."""

    file: Path | None = None

    def close(self) -> None:
        """Close it; a second time is fine."""
        super().close()
        with _GUARD:
            if self.file is not None:
                _OPEN[self.file] -= 1
            self.file = None


_OPEN: Final[Counter[Path]] = Counter()
_GUARD: Final = threading.Lock()


def _connected(file: Path, look: Callable[[], None]) -> sqlite3.Connection:
    """Connect to a file, after a look at its bytes where nobody in this process is connected.

    Whoever closes a file lets go of all locks that its process has on it, those of SQLite too: the next
    process to go takes itself for the last one, deletes the log, and what is written from then on is lost.
    """
    real = file.resolve()
    with _GUARD:
        if not _OPEN[real]:
            look()
        connection = sqlite3.connect(
            file,
            timeout=_BUSY_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
        )
        connection.file = real
        _OPEN[real] += 1
    return connection


def _version(session: SqliteSession) -> int:
    return int(session.rows("PRAGMA user_version")[0]["user_version"])


def _use_wal(connection: sqlite3.Connection) -> None:
    # SQLite does not wait for this lock: of many that open a new file at once, all but one are told "locked".
    for attempt in range(_WAL_TRIES):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if attempt == _WAL_TRIES - 1:
                raise
            time.sleep(0.02)
        else:
            return


# Tell a journal that was damaged from one that is new, by its first bytes.
#
# The one rule: nothing is written over what is left. SQLite takes an empty file for a new database, drops the
# log beside it, and writes what it can into a damaged one; so it is not asked.


def refuse_damaged(file: Path, *, had_runs: bool) -> None:
    """Refuse a journal that is not whole; `had_runs` tells that one was here, so that none is new."""
    looks = 1
    while (how := _damage_in(file, had_runs=had_runs)) is not None:
        if looks == _LOOKS:
            raise damaged(file, how)
        # Another process may be in the middle of making it longer.
        looks += 1
        time.sleep(_LOOK_S)


def damaged(file: Path, how: str) -> JournalDamaged:
    """Say that a journal is damaged, and the way back."""
    return JournalDamaged(
        f"the journal {file} is damaged: {how}",
        why="It is the only record of what has happened, so nothing is written over what is left of it.",
        next_step=f"Put a copy of it back, with {file.name}-wal if there is one, or move it away to begin a"
        f" new one; `sqlite3 {file} .recover` shows what can still be read. What has landed is in git.",
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
    # What a log beside it holds may be what the file lacks; SQLite brings them together.
    return f"{whole - size} of its {whole} bytes are missing" if size < whole and not has_log else None
