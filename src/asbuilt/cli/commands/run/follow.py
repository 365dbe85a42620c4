"""Request a run, start a worker if none is alive, and follow the run. Following never changes it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Final

from msgspec import UNSET

from asbuilt import wiring
from asbuilt.cli.commands.run.fleet import for_fleet, from_here, need_worker, serving
from asbuilt.cli.commands.run.schedule import show_schedule
from asbuilt.cli.live.follow import Listener, Lookout
from asbuilt.cli.live.viewers import viewer_for
from asbuilt.cli.runs import outcome
from asbuilt.cli.runs.grants import need_grants
from asbuilt.cli.runs.next_step import Next
from asbuilt.cli.runs.plan_approval import decide
from asbuilt.cli.runs.waiting import Waiting, run_waiting
from asbuilt.cli.shell.addresses import has_fleet, is_served
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.read_context import Seen
from asbuilt.cli.shell.run_context import Site, asker
from asbuilt.cli.ui.agent_questions import DOUBTS, below
from asbuilt.cli.ui.confirm import typed
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, INTERRUPTED, GateStopped
from asbuilt.events.options import RunOptions
from asbuilt.flows.fleet.membership import is_fleets
from asbuilt.flows.requests import Declined, answer, note, request
from asbuilt.git.refs import listed
from asbuilt.git.repository import base_on, current_branch, open_repository
from asbuilt.journal.approvals import Approval
from asbuilt.journal.ids import Address
from asbuilt.journal.queries.facts_cache import Folds
from asbuilt.journal.queries.overview import RunView
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.authoring.questions import recorded, reply_to
from asbuilt.lifecycle.replies import Answered, Later, No, Unclear, Yes

_KEYS: Final = "y yes   n no, and why   Enter later >"
_OPEN_KEYS: Final = "a letter, words of your own, or no; Enter later >"


def answered(door: Door, site: Site, view: RunView) -> bool:
    """Ask the run's first question. Return True if it is answered, here or meanwhile elsewhere."""
    if view.is_paused or not view.questions or not door.may_ask or not door.screen.err.is_live:
        return False
    asked = view.questions[0]
    if view.run.options.auto and asked.kind not in ("plan", "question"):
        # Asked for without questions: the run waits, as it does without a terminal.
        return False
    if asked.kind == "plan":
        if view.run.options.by_pull:
            return False
        return decide(door, site, asked, is_followed=True)
    reply = _read_answer(door, view.name, asked)
    if reply is None:
        return False
    word, note = recorded(reply)
    run = view.run
    counts, now = answer(
        site.journal.store, run.org, run.repo, asked.number, reply=word, note=note, asker=asker(door)
    )
    if counts and run.options.fleet is UNSET:
        wiring.ensure_worker(site.journal.home, door.environ)
    elif not counts:
        door.screen.talk(printable(f"{now.name} was already answered: {now.answer}, by {now.answered_by}."))
    return True


def _read_answer(door: Door, name: str, asked: Approval) -> Answered | None:
    pen = door.screen.err
    for row in pen.hanging(
        f"{pen.symbols.waits} ", f"{name} asks {asked.name}: {asked.gist}", commands=False
    ):
        pen.line(row)
    for row in below(pen, asked):
        pen.line(row)
    is_open = asked.kind == "question"
    keys = _OPEN_KEYS if is_open else _KEYS
    try:
        while True:
            word = typed(door, keys)
            if not word:
                return None
            match reply_to(asked.kind, asked.question, word):
                case Later():
                    return None
                case Unclear(doubt):
                    door.screen.talk(
                        printable(f'"{word}" is no answer: {DOUBTS[doubt]}. Nothing was recorded.')
                    )
                case No("") if not is_open:
                    return No(typed(door, "Why? >"))
                case Yes("") if asked.kind == "waiver":
                    # A waiver without a reason is none: the question is asked again.
                    if reason := typed(door, "Why? >"):
                        return Yes(reason)
                case reply:
                    return reply
    except KeyboardInterrupt:
        pen.line()
    return None


_BRANCH: Final = "refs/heads/"
_PAUSE_S: Final = 10.0
_SOON_S: Final = 0.05


def ask_for(  # noqa: PLR0913 - a run is followed in these ways
    door: Door,
    site: Site,
    address: Address,
    slug: str,
    options: RunOptions,
    *,
    is_here: bool = False,
    detach: bool = False,
    before_next: Callable[[], Next | None] | None = None,
) -> int:
    """Request a run, start a worker and follow it. A declined run prints who holds the plan."""
    journal = site.journal
    options = from_here(site, options)
    if site.has_clone:
        # Workers of the fleet have values of their own.
        is_elsewhere = is_fleets(journal.store, site.repository, options)
        options = need_grants(door, options, needs_values=not is_elsewhere)
    options = for_fleet(door, site, address, options)
    need_worker(site, options)
    asked = request(journal.store, journal.home.runs, address, slug=slug, options=options, asker=asker(door))
    if isinstance(asked, Declined):
        return outcome.declined(door, slug, asked, _landing_waits(site, options, asked))
    if is_here:
        return _in_this_process(door, site, asked, before_next)
    pid = serving(door, site, options)
    return look_on(door, site, asked, pid, detach=detach, before_next=before_next)


def _landing_waits(site: Site, options: RunOptions, held: Declined) -> Waiting | None:
    """Return what the holder of a plan waits for, if a landing or an undo was declined."""
    if options.kind not in ("land", "undo") or held.holder is None:
        return None
    return run_waiting(site.view(held.holder), Seen(datetime.now(UTC), is_served=is_served(site.journal)))


def _detached(door: Door, site: Site, run: Run, *, is_new: bool) -> int:
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.run/1", **outcome.as_json(site.view(run)), "exit": DONE})
        return DONE
    door.screen.answer(printable(f"{run.name} {'started' if is_new else 'continues'}."))
    next_command(door, f"asbuilt watch {run.options.slug}")
    return DONE


def look_on(  # noqa: PLR0913 - a run is followed in these ways
    door: Door,
    site: Site,
    run: Run,
    pid: int,
    *,
    starts: bool = True,
    detach: bool = False,
    is_new: bool = True,
    before_next: Callable[[], Next | None] | None = None,
) -> int:
    """Follow a run. Ctrl-C leaves it running, prints how to watch or stop it, and returns code 130.

    With `starts`, a worker is started whenever none is alive. With `detach`, only the run's name is printed,
    and whether it started or, not `is_new`, continues.
    """
    if detach:
        return _detached(door, site, run, is_new=is_new)
    home = site.journal.home

    def is_served() -> bool:
        if run.options.fleet is not UNSET:
            return has_fleet(site.journal.store)
        return (wiring.ensure_worker(home, door.environ) if starts else wiring.worker_pid(home)) is not None

    lookout = _lookout(door, site, run, is_served=is_served)
    try:
        view = _until_it_ends(door, site, lookout)
    except KeyboardInterrupt:
        pid, slug = wiring.worker_pid(home) or pid, run.options.slug
        door.screen.talk(printable(f"Left running: {run.name} continues in the worker (pid {pid})."))
        next_command(door, f"asbuilt watch {slug}", other=f"end it: `asbuilt stop {slug}`")
        return INTERRUPTED
    show_schedule(door, site, run.address)
    return outcome.shown(door, view, before_next=before_next)


def _lookout(
    door: Door, site: Site, run: Run, *, is_served: Callable[[], bool], is_here: bool = False
) -> Lookout:
    bell = site.desk.settings.flag("attention.bell")
    may_note = door.may_ask and run.options.kind == "run"
    viewer = viewer_for(door.screen, bell=bell, person=asker(door).actor, may_note=may_note)
    # Without a terminal, a script gets its answer when the run parks; in this process the run would end.
    leaves = not (door.may_ask or door.screen.err.is_live or is_here)

    def send(text: str) -> None:
        note(site.journal.store, run.address, run.options.slug, text=text, asker=asker(door))

    return Lookout(
        journal=site.journal,
        run=run,
        viewer=viewer,
        listener=Listener(wiring.attempts(site.journal.home)),
        folds=Folds(site.journal.blobs),
        is_served=is_served,
        is_here=is_here,
        leaves_parked=leaves,
        send=send,
        zone=wiring.zone(site.desk.settings),
    )


def _until_it_ends(door: Door, site: Site, lookout: Lookout) -> RunView:
    """Follow a run until it is over or waits for an answer that is not given here."""
    view = lookout.watch()
    while answered(door, site, view):
        view = lookout.watch()
    return view


def _in_this_process(door: Door, site: Site, run: Run, before_next: Callable[[], Next | None] | None) -> int:
    """Act as the worker for this run. If a worker is already alive, it does the work."""
    home, ended = site.journal.home, threading.Event()
    thread = threading.Thread(
        target=wiring.serve, args=(site.journal, site.desk.settings, ended), daemon=True
    )
    thread.start()
    while (pid := wiring.worker_pid(home)) is None and thread.is_alive():
        time.sleep(_SOON_S)
    if pid != os.getpid():
        pid = pid or wiring.ensure_worker(home, door.environ)
        return look_on(door, site, run, pid, before_next=before_next)
    lookout = _lookout(door, site, run, is_served=thread.is_alive, is_here=True)
    try:
        view = _until_it_ends(door, site, lookout)
    except KeyboardInterrupt:
        return _pause(door, lookout)
    ended.set()
    thread.join(10)
    return outcome.shown(door, view, before_next=before_next)


def _pause(door: Door, lookout: Lookout) -> int:
    """Leave once asbuilt is between two moves, after 10 s at most. An agent's work is kept in any case."""
    door.screen.talk(f"Pausing at a safe point, at most {_PAUSE_S:.0f}s. Again: end now, work kept.")
    until = time.monotonic() + _PAUSE_S
    view = lookout.look()
    with suppress(KeyboardInterrupt):
        while view.waits_for.kind == "asbuilt" and time.monotonic() < until:
            time.sleep(_SOON_S)
            view = lookout.look()
    door.screen.answer(printable(f"{view.name} is paused; all work is kept."))
    next_command(door, f"asbuilt run {view.run.options.slug}")
    # Do not wait for the engine's threads: they wait for an agent, and every move can be repeated.
    wiring.leave(INTERRUPTED)


def target_of(checkout: Path) -> str:
    """Return the checked-out branch, on which proven work lands; raise if it has no commit."""
    repository = open_repository(checkout)
    branch = (current_branch(repository) or "").removeprefix(_BRANCH)
    if not branch:
        names = (ref.removeprefix(_BRANCH) for ref, _ in listed(repository, _BRANCH))
        branches = [name for name in names if not name.startswith("asbuilt/")]
        raise GateStopped(
            "no branch is checked out here",
            why="Proven work lands on the branch that is checked out.",
            next_step=f"`git switch {quote(branches[0])}`, then run again."
            if len(branches) == 1
            else "`git branch --list` shows the branches; switch to one, then run again.",
        )
    base_on(repository, branch)
    return branch
