"""The durable engine: DBOS on SQLite or Postgres. Only this file knows its settings.

Rule: the engine is disposable. Everything that it stores can be rebuilt from the journal.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID
from sqlalchemy import event

from asbuilt.errors import EngineDamaged, StoreFailed
from asbuilt.journal.database.postgres import TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from dbos import WorkflowStatus

_NAME: Final = "asbuilt"
_VERSION: Final = "2"
"""Bump when the shape of a segment changes. Segments started under another version are not resumed."""
_POOL: Final = 2
"""Connections per process: with those of the journal and the listeners, 8 workers stay below 48."""
ENDED_WELL: Final = "SUCCESS"
_OVER: Final = (ENDED_WELL, "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TRANSPORT: Final = {name: str(value) for name, value in TRANSPORT.items()}
_NEVER_S: Final = 3600.0
"""Poll interval of the engine's schedules, which asbuilt does not use."""

Answer = TypeVar("Answer")


class Performs(Protocol):
    """A segment of a run: decides and performs moves until the run ends or has to wait."""

    def __call__(self, org: str, repo: str, run: str, n: int) -> None:
        """Perform segment `n` of a run."""


class Steps(Protocol):
    """Performs an action at least once and stores its result."""

    def __call__(self, name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
        """Perform the action, or return the stored result."""


def step(name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
    """Perform an action at least once and store its result; a replay returns the stored result."""
    return DBOS.run_step({"name": name}, act, *arguments)


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    """Translate errors of the engine's database into `EngineDamaged` or `StoreFailed`."""
    try:
        yield
    except sa.exc.DBAPIError as error:
        kind = EngineDamaged if _is_damage(error.orig) else StoreFailed
        raise kind(
            f"the engine's database cannot be used: {str(error.orig).strip() or type(error.orig).__name__}",
            why="A run goes on only where each step can be remembered.",
            next_step="Look at the disk's space, or whether the database is up; it goes on by itself then.",
        ) from error


def _is_damage(error: BaseException | None) -> bool:
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


class State(Enum):
    """State of a segment in the engine."""

    UNKNOWN = "unknown"
    """The engine has no record of it; its database may be new."""
    HERE = "here"
    """It runs in this worker."""
    ELSEWHERE = "elsewhere"
    """Another worker, or an earlier version, started it; this worker does not resume it."""
    DROPPED = "dropped"
    """The engine lists it as running here, but no thread runs it: its result could not be written."""
    OVER = "over"


class Engine:
    """DBOS, configured for one worker.

    Each worker has an application version of its own in DBOS, so that workers on one database leave each
    other's segments alone. DBOS recovers a worker's segments only when that worker starts again.
    """

    def __init__(self, *, folder: Path, url: str | None, worker: str, slots: int) -> None:
        self._folder = folder
        self._url = url
        self.worker = worker
        self.slots = slots
        self._at_work: set[str | None] = set()
        self._segment: Callable[[str, str, str, int], None] | None = None

    @property
    def _version(self) -> str:
        return f"{_VERSION}-{self.worker}"

    @property
    def is_shared(self) -> bool:
        """Whether other workers may use the same database."""
        return self._url is not None

    @_in_words()
    def launch(self, segment: Performs, *, ended: Callable[[], object] = lambda: None) -> None:
        """Start serving. Segments that this worker left resume automatically; `ended` follows each."""
        DBOS(config=self._config())

        # DBOS sets attributes on the function it gets, so it gets a function of its own.
        def go_through(org: str, repo: str, run: str, n: int) -> None:
            workflow = DBOS.workflow_id
            self._at_work.add(workflow)
            try:
                segment(org, repo, run, n)
            finally:
                self._at_work.discard(workflow)
                ended()

        self._segment = DBOS.workflow(name="segment", max_recovery_attempts=1_000_000)(go_through)
        DBOS.listen_queues([])
        DBOS.launch()

    def close(self, *, patience_s: int = 0) -> None:
        """Stop serving; the next start resumes what is in flight."""
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=patience_s)

    @_in_words()
    def begin(self, workflow: str, arguments: tuple[str, str, str, int]) -> None:
        """Start a segment in a thread of its own; a second start under the same id has no effect."""
        if self._segment is None:
            raise RuntimeError("the engine was not launched")
        with SetWorkflowID(workflow):
            DBOS.start_workflow(self._segment, *arguments)

    @_in_words()
    def states(self, workflows: Iterable[str]) -> dict[str, State]:
        """Return the states of segments, with one query."""
        wanted = list(workflows)
        if not wanted:
            return {}
        known = DBOS.list_workflows(workflow_ids=wanted, load_input=False, load_output=False)
        return dict.fromkeys(wanted, State.UNKNOWN) | {one.workflow_id: self._state(one) for one in known}

    def _state(self, known: WorkflowStatus) -> State:
        if known.status in _OVER:
            return State.OVER
        if known.app_version != self._version:
            return State.ELSEWHERE
        return State.HERE if known.workflow_id in self._at_work else State.DROPPED

    @_in_words()
    def why_over(self, workflow: str) -> str:
        """Return how a segment ended unexpectedly, in the engine's words."""
        (status,) = DBOS.list_workflows(workflow_ids=[workflow], load_input=False)
        return f"{status.status}, {status.error}" if status.error else str(status.status)

    @_in_words()
    def forget(self, before: str, *, batch: int = 500) -> int:
        """Delete segments that ended before a time; the journal keeps what they did. Return their number."""
        gone = 0
        while True:
            over = DBOS.list_workflows(
                status=list(_OVER), completed_before=before, limit=batch, load_input=False, load_output=False
            )
            if not over:
                return gone
            DBOS.delete_workflows([status.workflow_id for status in over])
            gone += len(over)

    def _config(self) -> DBOSConfig:
        config: DBOSConfig = {
            "name": _NAME,
            "application_version": self._version,
            "executor_id": self.worker,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "ERROR",
            "sys_db_pool_size": _POOL,
            "scheduler_polling_interval_sec": _NEVER_S,
        }
        if self._url is not None:
            url = sa.make_url(self._url).update_query_dict(_TRANSPORT)
            return {**config, "system_database_url": url.render_as_string(hide_password=False)}
        file = self._folder / "engine.db"
        _set_aside_if_damaged(file)
        _first_start(self._folder, file)
        return {
            **config,
            "system_database_url": f"sqlite:///{file}",
            "system_database_engine": _sqlite_engine(file),
            "notification_listener_polling_interval_sec": 1.0,
        }


def _set_aside_if_damaged(file: Path) -> None:
    """Move an unreadable database aside; the engine is rebuilt from the journal."""
    if not file.exists():
        return
    try:
        with contextlib.closing(sqlite3.connect(file)) as connection:
            said = connection.execute("PRAGMA quick_check(1)").fetchall()
            is_whole = said == [("ok",)] and connection.execute("PRAGMA schema_version").fetchone() != (0,)
    except sqlite3.DatabaseError as error:
        if not _is_damage(error):
            raise StoreFailed(
                f"the engine's database {file} cannot be used: {error}",
                why="A run goes on only where each step can be remembered.",
                next_step="Look at the disk's space and permissions; then try again.",
            ) from error
        is_whole = False
    if is_whole:
        return
    aside = file.with_name(f"engine.damaged-{time.time_ns()}.db")
    for ending in ("-wal", "-shm", ""):
        part = file.with_name(file.name + ending)
        if part.exists():
            part.replace(aside.with_name(aside.name + ending))


def _first_start(folder: Path, file: Path) -> None:
    """Create the engine's database under a private name and rename it into place.

    If DBOS is killed during its first migration, it leaves a file that no later start can use.
    """
    if file.exists():
        return
    for stale in folder.glob("engine.new-*"):
        with contextlib.suppress(FileNotFoundError):
            stale.unlink()
    fresh = folder / f"engine.new-{os.getpid()}.db"
    DBOS.migrate(f"sqlite:///{fresh}")
    with contextlib.closing(sqlite3.connect(fresh)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
    _sync(fresh)
    fresh.replace(file)
    _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sqlite_engine(file: Path) -> sa.Engine:
    engine = sa.create_engine(f"sqlite:///{file}")

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own connection
        connection.isolation_level = "IMMEDIATE"
        for pragma in ("busy_timeout=30000", "foreign_keys=ON", "journal_mode=WAL", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {pragma}")

    return engine
