"""`asbuilt worker`: the process that does the work. One for each user; a run starts it automatically."""

from __future__ import annotations

import signal
import threading

import click

from asbuilt import wiring
from asbuilt.cli.shell.boundary import report_error
from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door
from asbuilt.errors import DONE, AsbuiltError
from asbuilt.settings import Settings, load


def _alone(door: Door, *, foreground: bool, idle: int | None) -> int:
    settings = load(repository=None, environ=door.environ)
    journal = wiring.open_journal(settings, door.environ)
    if foreground:
        return _serve(door, journal, settings, idle)
    before = wiring.worker_pid(journal.home)
    pid = before or wiring.ensure_worker(journal.home, door.environ)
    if not door.emitted("asbuilt.worker/1", {"pid": pid, "started": before is None}):
        # A worker that has just started has not written its pid yet.
        shown = f" (pid {pid})" if pid else ""
        door.screen.answer(f"The worker is {'running' if before else 'started'}{shown}.")
    return DONE


def _serve(door: Door, journal: wiring.Journal, settings: Settings, idle: int | None) -> int:
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    build = wiring.Build()
    while True:
        try:
            mine = wiring.serve(journal, settings, ended, idle_s=idle, build=build)
        except AsbuiltError as error:
            # Not raised: the interpreter would wait for the engine's threads, which may wait for an agent.
            wiring.leave(report_error(door.screen.err, error))
        if not mine:
            door.screen.talk(f"Another worker is running (pid {wiring.worker_pid(journal.home)}).")
            return DONE
        if build.has_changed() and not ended.is_set():
            door.screen.talk("asbuilt was upgraded: the worker restarts with the new version.")
            wiring.restart()
        # A run requested between the last poll and the release of the lock was seen by no worker.
        if ended.is_set() or not wiring.is_due(journal):
            wiring.leave()


group = LazyGroup(
    "worker",
    commands={
        "install": Lazy("worker.install:install", "start the worker automatically at login"),
        "uninstall": Lazy("worker.install:uninstall", "remove the automatic start"),
    },
    examples=[
        ("asbuilt worker", "check that a worker is running"),
        ("asbuilt worker --foreground", "run the worker in this terminal"),
        ("asbuilt worker install", "start the worker automatically at login"),
    ],
    help=(
        "The process that executes runs. Each user has one worker; the first run starts it. `worker install`"
        " starts it automatically at login, so that runs continue after a restart."
    ),
    alone=_alone,
    params=[
        click.Option(["--foreground"], is_flag=True, help="run the worker in this terminal"),
        click.Option(["--idle"], type=int, metavar="SECONDS", hidden=True),
    ],
)
