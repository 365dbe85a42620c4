"""Composition root: the only module that knows every adapter. It imports an adapter only when it is used."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from asbuilt.errors import AsbuiltError, WorkerFailed
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.engine.liveness import board_address, holder, only_one
from asbuilt.journal.home import Home, open_home
from asbuilt.journal.ids import LOCAL
from asbuilt.settings import Settings, state_folder, survey

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from asbuilt.flows.authoring.conversation import Conversing
    from asbuilt.flows.engine.dbos import Steps
    from asbuilt.flows.notify import Reach
    from asbuilt.flows.telemetry import Collector
    from asbuilt.journal.database.store import Store
    from asbuilt.library.repository_discovery import Repository as Checkout
    from asbuilt.ports import Attempts, Processes

IDLE_S: Final = 600.0
"""A worker that a command started exits after this many idle seconds; the next command starts another."""
_SETTLED_S: Final = 5.0
_UP_WITHIN_S: Final = 20.0
_LOG_CAP: Final = 1_000_000
_PASSED: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "ASBUILT_HOME", "ASBUILT_ORGANISATION_FILE",
    "ASBUILT_USER_FILE", "ASBUILT_STORE_URL", "ASBUILT_STORE_BLOBS", "ASBUILT_AGENTS_SLOTS",
    "ASBUILT_POWER_INHIBIT", "ASBUILT_TELEMETRY_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_METRIC_EXPORT_INTERVAL",
)  # fmt: skip


class Journal(NamedTuple):
    """This user's journal, opened."""

    home: Home
    store: Store
    blobs: Blobs


def find_journal(settings: Settings, environ: Mapping[str, str]) -> Journal | None:
    """Open the journal for reading; return None, and create nothing, if none was ever written."""
    home = Home(state_folder(environ))
    if not settings.text("store.url") and not home.journal.exists():
        return None
    return open_journal(settings, environ)


def open_journal(settings: Settings, environ: Mapping[str, str]) -> Journal:
    """Open the journal; creates the state folder and missing tables."""
    home = open_home(state_folder(environ))
    store = open_store(home, settings)
    store.migrate(STEPS)
    place, url = settings.text("store.blobs"), settings.text("store.url")
    if not url:
        is_folder = place and "://" not in place
        return Journal(home, store, Blobs(Path(place).expanduser() if is_folder else home.blobs))
    from asbuilt.flows.fleet.membership import large_blobs  # noqa: PLC0415 - only where it is used
    from asbuilt.journal.database.postgres import PostgresStore  # noqa: PLC0415
    from asbuilt.journal.shared_blobs import SharedBlobs  # noqa: PLC0415

    # A blob is put while a transaction is open, so it needs a connection of its own.
    own = PostgresStore(url, connections=1)
    return Journal(home, store, SharedBlobs(home.blobs, own, large_blobs(home, settings, environ)))


def known_repository(journal: Journal, checkout: Checkout) -> str | None:
    """Return the journal's ID of a repository; None when the journal has nothing about it.

    If it is at its last known path, git is not needed to tell it from a copy.
    """
    from asbuilt.journal import repositories  # noqa: PLC0415 - only where it is used
    from asbuilt.library.repository_discovery import identity_of  # noqa: PLC0415

    if not journal.store.is_shared:
        uuid = identity_of(checkout)
        if uuid is None:
            return None
        with journal.store.read() as session:
            before = repositories.find(session, LOCAL, uuid)
        if before is None or before.path == str(checkout.common):
            return uuid if before else None
    from asbuilt.flows.registration import known  # noqa: PLC0415 - it starts git
    from asbuilt.git.repository import open_repository  # noqa: PLC0415

    return known(journal.store, open_repository(checkout.root))


def plan_events(
    settings: Settings, environ: Mapping[str, str], repository: Checkout, plan: str
) -> list[Entry]:
    """Return the local journal's events of a plan, for callers that must not wait for a network.

    A shared journal needs the network and is skipped: its outcomes are in the plan once they have landed.
    """
    from asbuilt.journal.ids import Address  # noqa: PLC0415 - only where it is used
    from asbuilt.journal.queries.overview import events_of  # noqa: PLC0415

    try:
        journal = None if settings.text("store.url") else find_journal(settings, environ)
        repo = None if journal is None else known_repository(journal, repository)
        if journal is None or repo is None:
            return []
        with journal.store.read() as session:
            return events_of(session, journal.blobs, Address(LOCAL, repo, plan))
    except AsbuiltError:
        return []


def conversing(root: str, environ: Mapping[str, str], *, repo: str, run: str) -> Conversing:
    """Open the authoring of a plan by a conversation in a checkout."""
    from asbuilt.flows.authoring.conversation import Conversing  # noqa: PLC0415 - only where it is used
    from asbuilt.git.repository import open_repository  # noqa: PLC0415
    from asbuilt.settings import load  # noqa: PLC0415

    journal = open_journal(load(repository=Path(root), environ=environ), environ)
    return Conversing(journal.store, journal.blobs, open_repository(Path(root)), repo=repo, run=run)


def open_store(home: Home, settings: Settings) -> Store:
    """Open the journal's database as it is: creates no folder, changes no table."""
    url = settings.text("store.url")
    if url:
        from asbuilt.journal.database.postgres import PostgresStore  # noqa: PLC0415 - only where it is used

        return PostgresStore(url)
    from asbuilt.journal.database.sqlite import SqliteStore  # noqa: PLC0415 - only where it is used

    return SqliteStore(home.journal)


def zone(settings: Settings) -> tzinfo | None:
    """Return the time zone for display; None means the machine's own."""
    if not (name := settings.text("time.zone")):
        return None
    from asbuilt.library.time_zones import zone_called  # noqa: PLC0415 - few have chosen one

    return zone_called(name)


def attempts(home: Home) -> Attempts:
    """Open the attempts of all runs, to read their state."""
    from asbuilt.agents.attempts import FolderAttempts  # noqa: PLC0415 - only where it is used

    return FolderAttempts(home.path)


def check_processes(home: Home, scratch: Path, environ: Mapping[str, str]) -> Processes:
    """Return a runner of sandboxed checks, outside of any run."""
    from asbuilt.agents.sandboxed_commands import SandboxProcesses  # noqa: PLC0415 - only where it is used
    from asbuilt.policy.sandbox.variables import passed  # noqa: PLC0415

    return SandboxProcesses(scratch=scratch, hidden=(home.path,), environment=passed(environ))


class Build:
    """The installed asbuilt, by the file that holds its version."""

    def __init__(self) -> None:
        """Remember what is installed now."""
        self._started = self._seen = self._stamp()
        self._seen_at = time.monotonic()

    def has_changed(self) -> bool:
        """Return whether another build has been installed for 5 s: an installation writes file by file."""
        stamp = self._stamp()
        if stamp != self._seen:
            self._seen, self._seen_at = stamp, time.monotonic()
        settled = time.monotonic() - self._seen_at >= _SETTLED_S
        return stamp is not None and stamp != self._started and settled

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            about = Path(__file__).with_name("_version.py").stat()
        except OSError:
            return None
        return about.st_ino, about.st_mtime_ns, about.st_size


def serve(
    journal: Journal,
    settings: Settings,
    ended: threading.Event,
    *,
    idle_s: float | None = None,
    build: Build | None = None,
) -> bool:
    """Serve as the worker until `ended` is set or it is idle for `idle_s`; False if there is another."""
    from asbuilt.agents.attempts import FolderAttempts  # noqa: PLC0415 - a worker needs it all
    from asbuilt.agents.sandboxed_commands import SandboxProcesses  # noqa: PLC0415
    from asbuilt.agents.sleep_inhibitor import awake  # noqa: PLC0415
    from asbuilt.flows.authoring.reviews import Reviews  # noqa: PLC0415
    from asbuilt.flows.engine.background import beside  # noqa: PLC0415
    from asbuilt.flows.engine.dbos import Engine  # noqa: PLC0415
    from asbuilt.flows.engine.lease import Lease, Times  # noqa: PLC0415
    from asbuilt.flows.engine.worker import Worker, clear  # noqa: PLC0415
    from asbuilt.flows.fleet.membership import taking_of  # noqa: PLC0415
    from asbuilt.flows.kinds import Performer  # noqa: PLC0415
    from asbuilt.flows.notify import sending  # noqa: PLC0415
    from asbuilt.flows.retention import Retention  # noqa: PLC0415
    from asbuilt.flows.schedule import Schedules  # noqa: PLC0415
    from asbuilt.flows.segment import Runs  # noqa: PLC0415
    from asbuilt.journal.engine.workers import machine_id, worker_id  # noqa: PLC0415
    from asbuilt.policy.sandbox.variables import passed  # noqa: PLC0415

    gc.enable()
    home, store, blobs = journal
    url = settings.text("store.url")
    with only_one(home.worker_lock) as mine:
        if not mine:
            return False
        clear(home.scratch, *home.path.glob("engine.*"))
        me, times = worker_id(home) if url else LOCAL, Times()
        lease = Lease(store, me, org=LOCAL, times=times) if url else None
        processes = SandboxProcesses(
            scratch=home.scratch, hidden=(home.path,), environment=passed(os.environ)
        )
        kept_awake = awake if settings.flag("power.inhibit") else nullcontext
        attempts = FolderAttempts(home.path, abandon_s=times.stop_s if url else times.lost_s)
        performer = Performer(home, store, blobs, attempts, processes, awake=kept_awake, lease=lease)
        machine, slots = machine_id() if url else None, settings.number("agents.slots")
        engine = Engine(store, url=url or None, worker=me, slots=slots, machine=machine)
        reached = reach(settings, os.environ)
        collector = _collector(home, settings)
        runs = Runs(store, blobs, performer, reached, lease=lease, collector=collector)
        reviews = Reviews(store, blobs, home, org=LOCAL, machine=machine)
        kept = Retention(journal, engine, machine=machine, days=settings.number("retention.days"))
        load = collector.reporting(store, engine) if collector else nullcontext()
        with sending(store, reached, org=LOCAL) as sends, beside(reviews) as looks, beside(kept), load:
            worker = Worker(
                store, engine, runs, org=LOCAL, is_needed=lambda: sends() or looks(),
                schedules=Schedules(store, home, org=LOCAL, machine=machine), lease=lease, machine=machine,
                taking=taking_of(home, store, engine, settings, times.lost_s),
                is_outdated=build.has_changed if build else lambda: False,
            )  # fmt: skip
            if worker.serve(ended, idle_s=idle_s):
                restart()
        engine.close()
    return True


def _collector(home: Home, settings: Settings) -> Collector | None:
    """Return where traces and metrics go; None, and nothing is loaded, if there is no collector."""
    if not (endpoint := settings.text("telemetry.endpoint")):
        return None
    from asbuilt.flows.fleet.membership import secrets  # noqa: PLC0415 - only where it is used
    from asbuilt.flows.telemetry import Collector  # noqa: PLC0415

    return Collector(endpoint, {**os.environ, **secrets(home)})


def reach(settings: Settings, environ: Mapping[str, str]) -> Reach:
    """Return the user's notification channels and quiet hours."""
    from asbuilt.flows.notify import Reach  # noqa: PLC0415
    from asbuilt.library.time_zones import zone_name  # noqa: PLC0415
    from asbuilt.lifecycle.notify import Topic  # noqa: PLC0415
    from asbuilt.lifecycle.run.working_hours import read  # noqa: PLC0415
    from asbuilt.notify.desktop import desktop  # noqa: PLC0415 - only where it is used
    from asbuilt.notify.posting import posts  # noqa: PLC0415

    quiet = settings.text("notify.quiet")
    return Reach(
        desktop(environ),
        posts(settings, environ),
        quiet=read(quiet, zone_name(settings.text("time.zone"), environ)) if quiet else None,
        urgent=frozenset(map(Topic, settings.globs("notify.urgent"))),
        board=lambda: board_address(Home(state_folder(environ)).board),
    )


def go_through(journal: Journal, run: str, repo: str, *, step: Steps) -> None:
    """Run the first segment of a run in this process, without an engine; `step` performs each step.

    Its tests and checks get only the PATH, and variables that turn off pytest plug-ins and bytecode files.
    """
    from asbuilt.agents.attempts import FolderAttempts  # noqa: PLC0415 - a run needs it all
    from asbuilt.agents.sandboxed_commands import SandboxProcesses  # noqa: PLC0415
    from asbuilt.flows.kinds import Performer  # noqa: PLC0415
    from asbuilt.flows.segment import Runs  # noqa: PLC0415

    home, store, blobs = journal
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    performer = Performer(
        home,
        store,
        blobs,
        FolderAttempts(home.path, sandbox_required=False),
        SandboxProcesses(scratch=home.scratch, hidden=(home.path,), environment=environment),
    )
    Runs(store, blobs, performer, step=step).segment(LOCAL, repo, run, 1)


def is_due(journal: Journal) -> bool:
    """Return whether a worker is needed: an open segment with a due time, a review or a schedule exists."""
    from asbuilt.journal import reviews, runs, schedules  # noqa: PLC0415 - only where it is used

    with journal.store.read() as session:
        is_open = any(segment.due_at != runs.FAR for segment in runs.open_segments(session, LOCAL))
        reviewed = reviews.is_any(session, LOCAL, machine=None)
        return is_open or reviewed or schedules.is_any(session, LOCAL, machine=None)


def worker_pid(home: Home) -> int | None:
    """Return the worker's PID; None when there is no worker."""
    return holder(home.worker_lock)


def ensure_worker(home: Home, environ: Mapping[str, str]) -> int:
    """Return the PID of the worker; starts one that outlives this terminal if there is none.

    Raises only if the new process failed within 20 s. A slow one takes the lock later; one that exited with 0
    found another worker, or nothing to do.
    """
    pid = worker_pid(home)
    if pid is not None:
        return pid
    import subprocess  # noqa: PLC0415 - most commands only look whether a worker is there

    log = home.worker_log
    if log.exists() and log.stat().st_size > _LOG_CAP:
        log.replace(log.with_suffix(".log.1"))
    with log.open("ab") as output:
        started = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", "asbuilt", "worker", "--foreground", "--idle", str(int(IDLE_S))],
            cwd="/",
            env={name: environ[name] for name in (*_PASSED, *_pointed_to(environ)) if name in environ},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    until = time.monotonic() + _UP_WITHIN_S
    while (code := started.poll()) is None and time.monotonic() < until:
        pid = worker_pid(home)
        if pid is not None:
            return pid
        time.sleep(0.05)
    pid = worker_pid(home)
    if pid is not None or not code:
        return pid or started.pid
    raise WorkerFailed(
        f"the worker did not come up: {_tail(log)}",
        why="The request is recorded, and starts when a worker runs.",
        next_step="`asbuilt worker --foreground` shows the worker's output.",
    )


def _pointed_to(environ: Mapping[str, str]) -> list[str]:
    """Return the variables that the user's settings refer to; a worker needs them."""
    from asbuilt.notify.posting import variables  # noqa: PLC0415 - only where a worker is started

    return variables(survey(repository=None, environ=environ)[0])


def _tail(log: Path) -> str:
    try:
        lines = log.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return "it said nothing"
    return lines[-1][-200:] if lines else "it said nothing"


def restart() -> NoReturn:
    """Exec the same command again: ends all threads of this process; attempts keep running."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-m", "asbuilt", *sys.argv[1:]])  # noqa: S606 - ourselves


def leave(code: int = 0) -> NoReturn:
    """Exit at once: attempts keep running, and every step can be repeated."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
