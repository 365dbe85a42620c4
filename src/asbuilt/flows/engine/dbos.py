"""The durable engine: DBOS, in the journal's own database. Only this file knows its settings.

Rule: a segment is enqueued in the transaction that plans it. DBOS then dispatches it: queues, delays, slots,
and recovery of what this worker left.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer, error
from sqlalchemy import event

from asbuilt.errors import StoreFailed
from asbuilt.journal import repositories
from asbuilt.journal.database.postgres import TRANSPORT, is_usable
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.database.store import Session, Store
from asbuilt.journal.engine import fleet
from asbuilt.journal.ids import Segment

if TYPE_CHECKING:
    from dbos import EnqueueOptions, WorkflowStatus

    from asbuilt.flows.engine.fence import Signals

_NAME: Final = "asbuilt"
_WORKFLOW: Final = "segment"
_VERSION: Final = "3"
"""Bump when the arguments of a segment change. Segments of another version start again under this one."""
_POOL: Final = 2
"""Connections per process: with those of the journal and the listeners, 8 workers stay below 48."""
_OVER: Final = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
_TRANSPORT: Final = {name: str(value) for name, value in TRANSPORT.items()}
_NEVER_S: Final = 3600.0
"""Poll interval of the engine's schedules, which asbuilt does not use."""
_SELDOM_S: Final = 1.0
"""Poll interval of the engine's messages, which asbuilt does not use; a worker that ends waits for it."""
_POLL_S: Final = 0.1
_POLL_QUIET_S, _QUIET_AFTER_S = 0.5, 10.0
"""Poll interval of a queue that only this process uses, 10 s after it has enqueued a segment."""
_POLL_SHARED_S: Final = 1.0
_ENQUEUE: Final = (
    "SELECT dbos.enqueue_workflow(:name, :queue, ARRAY[to_json(:org::text), to_json(:repo::text),"
    " to_json(:run::text), to_json(:n::integer)], workflow_id => :id, app_version => :version,"
    " queue_partition_key => :partition, delay_until_epoch_ms => :until, application_name => :application)"
)

Answer = TypeVar("Answer")


class Flow(Protocol):
    """Performs segments of runs."""

    @property
    def signals(self) -> Signals:
        """The signals for threads that wait on runs."""

    def segment(self, org: str, repo: str, run: str, n: int) -> None:
        """Perform segment `n` of a run, until the run ends or has to wait."""

    def lost(self, segment: Segment, why: str | None) -> None:
        """Continue with the next segment after one that failed; without `why`, asbuilt was upgraded."""


class Steps(Protocol):
    """Performs an action at least once and stores its result."""

    def __call__(self, name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
        """Perform the action, or return the stored result."""


def step(name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
    """Perform an action at least once and store its result; a replay returns the stored result."""
    return DBOS.run_step({"name": name}, act, *arguments)


class Dropped(BaseException):
    """A segment ended, and how it ended could not be written. The worker resumes it."""


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    """Translate errors of the engine's tables into `StoreFailed`."""
    try:
        yield
    except sa.exc.DBAPIError as failed:
        raise StoreFailed(
            f"the engine's tables cannot be used: {str(failed.orig).strip() or type(failed.orig).__name__}",
            why="A run continues only if each step can be recorded.",
            next_step="`asbuilt doctor` checks the disk and the database; the run continues automatically.",
        ) from failed


class Engine:
    """DBOS, configured for one worker.

    On a shared database a worker polls two queues: that of its machine, and its own, for runs whose workspace
    it has. A queue is partitioned by repository, so that one repository cannot delay the others.
    """

    def __init__(
        self, store: Store, *, url: str | None, worker: str, slots: int, machine: str | None = None
    ) -> None:
        """Keep the parts; `url` is the shared database, `machine` limits it to one machine's repositories."""
        self._store = store
        self._url = url
        self._machine = machine
        self.worker = worker
        self.slots = slots
        self._free = threading.BoundedSemaphore(slots)
        self._at_work: Counter[str] = Counter()
        self._guard = threading.Lock()
        self.is_launched = False
        self._enqueued_at, self._polls_s = time.monotonic(), _POLL_S
        self._client: DBOSClient
        self._views: _Views

    @property
    def is_shared(self) -> bool:
        """Whether other workers may use the same database."""
        return self._url is not None

    @property
    def own_queue(self) -> str:
        """The queue that only this worker polls."""
        return self._queue(self.worker)

    @property
    def free(self) -> int:
        """The number of slots that no segment uses."""
        with self._guard:
            return max(0, self.slots - sum(1 for count in self._at_work.values() if count > 0))

    @_in_words()
    def launch(self, flow: Flow, *, ended: Callable[[], object] = lambda: None) -> None:
        """Start serving. Segments that this worker left resume automatically; `ended` follows each."""
        config = self._config()
        DBOS(config=config)

        # DBOS sets attributes on the function it gets, so it gets a function of its own.
        def go_through(org: str, repo: str, run: str, n: int) -> None:
            segment = Segment(org, repo, run, n, "", "", self.worker)
            with self._working(segment.workflow):
                self._go_through(flow, segment)
            ended()

        DBOS.workflow(name=_WORKFLOW, max_recovery_attempts=1_000_000)(go_through)
        queues = [self._queue(self._machine), *([self._queue(self.worker)] if self.is_shared else [])]
        DBOS.listen_queues(queues)
        DBOS.launch()
        self.is_launched = True
        for queue in queues:
            DBOS.register_queue(
                queue,
                worker_concurrency=self.slots,
                partition_worker_concurrency=self.slots,
                polling_interval_sec=_POLL_SHARED_S if self.is_shared else _POLL_S,
            )
        if not self.is_shared:
            engine, serializer = config["system_database_engine"], DBOSPortableJSONSerializer()
            self._client = DBOSClient(
                system_database_engine=engine, serializer=serializer, application_name=_NAME
            )
            self._views = _Views()
        self._store.dispatch = self.enqueue

    def close(self) -> None:
        """Stop serving; the next start resumes what is in flight."""
        self._store.dispatch = None
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=0)

    def enqueue(self, session: Any, segment: Segment) -> None:  # noqa: ANN401 - a session of either store
        """Enqueue a segment in a transaction of the journal; a segment that the engine has is not changed."""
        due, now = datetime.fromisoformat(segment.due_at), datetime.fromisoformat(session.now)
        self._enqueued_at = time.monotonic()
        queue = self.home(session, segment)
        if self.is_shared:
            session.rows(
                _ENQUEUE,
                name=_WORKFLOW,
                queue=self._queue(segment.executor) if segment.executor else queue,
                **segment.key,
                id=segment.workflow,
                version=_VERSION,
                partition=segment.repo,
                until=int(due.timestamp() * 1000) if due > now else None,
                application=_NAME,
            )
            return
        options: EnqueueOptions = {
            "workflow_name": _WORKFLOW,
            "queue_name": queue,
            "workflow_id": segment.workflow,
            "app_version": _VERSION,
            "queue_partition_key": segment.repo,
        }
        if due > now:
            options["delay_seconds"] = (due - now).total_seconds()
        self._client.enqueue_in_transaction(self._views.of(session.connection), options, *segment[:4])

    @_in_words()
    def pace(self) -> None:
        """Poll the queue less often while this process enqueues nothing; on a shared database others do."""
        is_quiet = time.monotonic() - self._enqueued_at >= _QUIET_AFTER_S
        polls_s = _POLL_QUIET_S if is_quiet else _POLL_S
        if not self.is_shared and polls_s != self._polls_s:
            if queue := DBOS.retrieve_queue(self._queue(self._machine)):
                queue.set_polling_interval_sec(polls_s)
            self._polls_s = polls_s

    def home(self, session: Session, segment: Segment) -> str:
        """Return the queue of the machine where a segment's run works; of the fleet's, this worker's own."""
        place = fleet.place_of(session, segment) if self.is_shared else None
        if place is not None:
            return self.own_queue if fleet.is_fleets(session, segment) else self._queue(place)
        if self._machine is None:
            return self._queue(None)
        known = repositories.find(session, segment.org, segment.repo)
        return self._queue((known.machine if known else None) or self._machine)

    @_in_words()
    def prepare(self, asked: Sequence[Segment], now: str) -> None:
        """Make segments that were asked for ready to be enqueued.

        A delay that is over by now ends. What ended without closing its segment, or is of another version, is
        deleted, so that it starts again.
        """
        wanted = {segment.workflow: segment for segment in asked}
        known = DBOS.list_workflows(workflow_ids=list(wanted), load_input=False, load_output=False)
        ended = [flow.workflow_id for flow in known if flow.status in _OVER or flow.app_version != _VERSION]
        if ended:
            DBOS.delete_workflows(ended)
        for workflow in known:
            if workflow.status == "DELAYED" and wanted[workflow.workflow_id].due_at <= now:
                DBOS.set_workflow_delay(workflow.workflow_id, delay_seconds=0)

    @_in_words()
    def dropped(self) -> dict[str, str]:
        """Return what the engine lists as running here although no thread runs it, with its queue."""
        return self._unless_at_work(_pending([self.worker]))

    @_in_words()
    def left_by(self, workers: Collection[str]) -> dict[str, str]:
        """Return the segments that workers have started or that wait in their queues, with their queues."""
        queued = DBOS.list_workflows(
            status="ENQUEUED", queue_name=[self._queue(worker) for worker in workers], load_input=False,
            load_output=False,
        )  # fmt: skip
        return {flow.workflow_id: flow.queue_name or "" for flow in (*_pending(list(workers)), *queued)}

    @_in_words()
    def resume(self, workflow: str, *, queue: str, left_by: str) -> None:
        """Enqueue a segment again that a worker left, unless another worker has it after a freeze."""
        listed = DBOS.get_workflow_status(workflow)
        if listed is None or listed.status != "PENDING" or listed.executor_id == left_by:
            DBOS.resume_workflow(workflow, queue_name=queue)

    @_in_words()
    def cancel(self, workflow: str) -> None:
        """Give up a segment that is closed."""
        DBOS.cancel_workflow(workflow)

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

    def _go_through(self, flow: Flow, segment: Segment) -> None:
        try:
            try:
                flow.segment(*segment[:4])
            except (error.DBOSUnexpectedStepError, error.DBOSStepNondeterminismError):
                flow.lost(segment, None)
            except Exception as failed:  # noqa: BLE001 - the engine would record it, and no worker would read that
                flow.lost(segment, f"{type(failed).__name__}: {failed}")
        except Exception as failed:  # that could not be written: the workflow stays PENDING, and is resumed
            raise Dropped(segment.workflow) from failed

    @contextlib.contextmanager
    def _working(self, workflow: str) -> Iterator[None]:
        with self._guard:
            self._at_work[workflow] += 1
        try:
            # Two queues, and workers with other settings, may start more than this worker has slots for.
            with self._free:
                yield
        finally:
            with self._guard:
                self._at_work[workflow] -= 1

    def _unless_at_work(self, listed: Sequence[WorkflowStatus]) -> dict[str, str]:
        with self._guard:
            return {
                workflow.workflow_id: workflow.queue_name or self._queue(None)
                for workflow in listed
                if self._at_work[workflow.workflow_id] <= 0
            }

    @staticmethod
    def _queue(place: str | None) -> str:
        return f"runs@{place}" if place else "runs"

    def _config(self) -> DBOSConfig:
        config: DBOSConfig = {
            "name": _NAME,
            "application_version": _VERSION,
            "executor_id": self.worker,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "ERROR",
            "sys_db_pool_size": _POOL,
            "scheduler_polling_interval_sec": _NEVER_S,
        }
        if self._url is not None:
            url = sa.make_url(self._url).set(drivername="postgresql+psycopg").update_query_dict(_TRANSPORT)
            return {
                **config,
                "system_database_url": url.render_as_string(hide_password=False),
                "notification_coalesce_sec": _SELDOM_S,
                # Else every transaction is preceded by another that only tests the connection.
                "db_engine_kwargs": {"pool_pre_ping": False, "pool_events": [(_refuse_lost, "checkout")]},
            }
        if not isinstance(self._store, SqliteStore):
            raise TypeError(self._store)
        return {
            **config,
            "system_database_url": f"sqlite:///{self._store.file}",
            "system_database_engine": self._sqlite_engine(self._store),
            "notification_listener_polling_interval_sec": _SELDOM_S,
        }

    def _sqlite_engine(self, store: SqliteStore) -> sa.Engine:
        """Return the engine that DBOS uses; its tables are made in one transaction."""

        def connect() -> sqlite3.Connection:
            connection = store.connect(synchronous="NORMAL")
            connection.isolation_level = "IMMEDIATE"
            return connection

        engine = sa.create_engine(f"sqlite:///{store.file}", creator=connect)

        @event.listens_for(engine, "begin")
        def whole(connection: sa.Connection) -> None:
            # The driver begins a transaction only before a change of rows. DBOS killed between two of its
            # first tables would leave a file that no later start can use.
            if not self.is_launched:
                connection.exec_driver_sql("BEGIN IMMEDIATE")

        return engine


def _refuse_lost(connection: Any, *_: object) -> None:  # noqa: ANN401 - of psycopg
    """Let the pool replace a connection that the server has closed."""
    if not is_usable(connection):
        raise sa.exc.DisconnectionError


def _pending(workers: list[str]) -> list[WorkflowStatus]:
    return DBOS.list_workflows(status="PENDING", executor_id=workers, load_input=False, load_output=False)


class _Views:
    """SQLAlchemy connections over connections of the journal, through which the engine enqueues."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._lent: sqlite3.Connection = sqlite3.connect(":memory:")
        self._engine = sa.create_engine(
            "sqlite://", creator=lambda: self._lent, poolclass=sa.pool.NullPool, pool_reset_on_return=None
        )
        # The first connection that SQLAlchemy gets is probed, and rolled back.
        self._engine.connect().close()

    def of(self, connection: Any) -> sa.Connection:  # noqa: ANN401 - the journal's own kind
        """Return the view of a connection. It is never closed: that would end the journal's transaction."""
        if connection.view is None:
            with self._guard:
                self._lent = connection
                connection.view = self._engine.connect()
        view: sa.Connection = connection.view
        return view
