"""The durable engine: DBOS on SQLite or Postgres, and the only file that knows its settings.

The one rule: the engine is disposable. All that it is told comes from the journal, and can be told again.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer
from sqlalchemy import event

from asbuilt.errors import EngineDamaged, StoreFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from dbos import WorkflowStatus

RUNS: Final = "runs"
_NAME: Final = "asbuilt"
_VERSION: Final = "1"
"""Changes only with the shape of a segment: DBOS leaves work of another version alone."""
_POLL_SQLITE_S: Final = 0.15
_POLL_POSTGRES_S: Final = 2.0
_POOL: Final = 4
_OVER: Final = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
DROPPED: Final = "DROPPED"
"""Under way here, says the engine, and nobody is at work on it: it could not write down how it went."""
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

Answer = TypeVar("Answer")


class Performs(Protocol):
    """A stretch of a run: decides and performs until it ends or has to wait."""

    def __call__(self, org: str, repo: str, run: str, n: int) -> None:
        """Go through segment `n` of a run."""


def step(name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
    """Do something at least once and remember its answer; a replay gets the answer and does nothing."""
    return DBOS.run_step({"name": name}, act, *arguments)


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    """Say what the engine's database has against it."""
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


class Engine:
    """DBOS, configured for one worker."""

    def __init__(self, *, folder: Path, url: str | None, worker: str, slots: int) -> None:
        self._folder = folder
        self._url = url
        self._worker = worker
        self._slots = slots
        self._at_work: set[str | None] = set()

    @_in_words()
    def launch(self, segment: Performs) -> None:
        """Start serving. Work that this worker left behind goes on by itself."""
        DBOS(config=self._config())

        # DBOS puts attributes on what it is given, so it gets a function of its own.
        def go_through(org: str, repo: str, run: str, n: int) -> None:
            workflow = DBOS.workflow_id
            self._at_work.add(workflow)
            try:
                segment(org, repo, run, n)
            finally:
                self._at_work.discard(workflow)

        DBOS.workflow(name="segment", max_recovery_attempts=1_000_000)(go_through)
        DBOS.listen_queues([RUNS])
        poll = _POLL_SQLITE_S if self._url is None else _POLL_POSTGRES_S
        DBOS.launch()
        DBOS.register_queue(
            RUNS, worker_concurrency=self._slots, polling_interval_sec=poll, on_conflict="always_update"
        )

    def close(self, *, patience_s: int = 0) -> None:
        """Stop serving; what is in flight is picked up by the next start."""
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=patience_s)

    @_in_words()
    def enqueue(self, workflow: str, arguments: tuple[str, str, str, int], *, delay_s: float) -> None:
        """Tell the engine of a segment; told again under its id, nothing changes."""
        options: dict[str, Any] = {"workflow_name": "segment", "queue_name": RUNS, "workflow_id": workflow}
        if delay_s > 0:
            options["delay_seconds"] = delay_s
        DBOS.enqueue_workflow_with_options(options, *arguments)  # type: ignore[arg-type]  # a TypedDict, built

    @_in_words()
    def hasten(self, workflow: str) -> None:
        """Let a segment that waits begin at once."""
        DBOS.set_workflow_delay(workflow, delay_seconds=0)

    @_in_words()
    def resume(self, workflow: str) -> None:
        """Let a segment that was dropped be gone through again."""
        DBOS.resume_workflow(workflow, queue_name=RUNS)

    @_in_words()
    def states(self, workflows: Iterable[str]) -> dict[str, str]:
        """Tell the state of those segments that the engine knows."""
        wanted = list(workflows)
        if not wanted:
            return {}
        known = DBOS.list_workflows(workflow_ids=wanted, load_input=False, load_output=False)
        return {
            status.workflow_id: DROPPED if self._is_dropped(status) else str(status.status)
            for status in known
        }

    def _is_dropped(self, status: WorkflowStatus) -> bool:
        is_here = status.status == "PENDING" and status.executor_id == self._worker
        return is_here and status.workflow_id not in self._at_work

    @_in_words()
    def why_over(self, workflow: str) -> str:
        """Say how a segment ended that should not have, in the engine's words."""
        (status,) = DBOS.list_workflows(workflow_ids=[workflow], load_input=False)
        return f"{status.status}, {status.error}" if status.error else str(status.status)

    @_in_words()
    def take_over(self, worker: str) -> int:
        """Resume what a dead worker left; public calls only, since a segment is its own guard."""
        left = DBOS.list_workflows(status="PENDING", executor_id=worker, load_input=False, load_output=False)
        for status in left:
            DBOS.resume_workflow(status.workflow_id, queue_name=RUNS)
        return len(left)

    @_in_words()
    def forget(self, before: str, *, batch: int = 500) -> int:
        """Delete finished segments that ended before a time; the journal remembers what they did."""
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
            "application_version": _VERSION,
            "executor_id": self._worker,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "ERROR",
            "sys_db_pool_size": _POOL,
        }
        if self._url is not None:
            return {**config, "system_database_url": self._url}
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
    """Move a database away that cannot be read any more: the engine is told everything again."""
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
    """Make the engine's database under a private name and rename it into place.

    Killed in the middle of its first migration, DBOS leaves a file that no later start can use.
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
