"""What holds after any fault, once everything is at rest. The one rule: of a whole world nothing is said."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import time
from collections import Counter
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.landings import LandingDone
from asbuilt.events.runs import RunEnded
from asbuilt.git.commits import PHASE, RUN, UNDO
from asbuilt.journal import claims, runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import history
from asbuilt.journal.queries.overview import events_of
from asbuilt.lifecycle.delivery.facts import Landed
from asbuilt.lifecycle.status.plan_state import fold_plan
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from asbuilt.events.event import Entry
    from asbuilt.journal.queries.overview import Entries
    from asbuilt.journal.runs import Run
    from tests.journeys.shop import Shop

GONE_WITHIN_S: Final = 5.0
"""What a killed host leaves behind has so long to go."""


class Broken(NamedTuple):
    """One thing that does not hold: lost, doubled, bricked, orphan, left, torn, not finished, or touched."""

    how: str
    what: str


def broken(shop: Shop, *, branch: str = "main", leaves: Sequence[str] = ()) -> list[Broken]:
    """Say everything that does not hold of a world at rest; `leaves` are runs whose workspace stays.

    The worker may live, its runs are over or wait for a person. The person's own files are compared by
    `Shop.compare`, which raises.
    """
    with shop.store.read() as session:
        events = history(session, shop.address, limit=100_000)
        told = events_of(session, Blobs(shop.home / "blobs"), shop.address)
        known = runs.of_plan(session, shop.address, limit=1_000)
        held = claims.find(session, shop.address)
        open_now = runs.open_segments(session, shop.address.org, limit=100_000)
    over = {run.run: run for run in known if run.is_over}
    found = [
        *_commits(shop, branch, told),
        *_marks(shop, branch, told),
        *_events(events),
        *_repository(shop),
        *_workspaces(shop, {name: run for name, run in over.items() if name not in leaves}),
        *_processes([run.run for run in known], str(shop.home)),
        *_databases(shop.home),
    ]
    for run in known:
        segments = [segment.n for segment in open_now if segment.run == run.run]
        if len(segments) != (0 if run.is_over else 1):
            found.append(Broken("bricked", f"run {run.run} is {run.state} and has open segments {segments}"))
    if held is not None and held.run in over:
        found.append(Broken("bricked", f"{held.run} is over and still holds its plan"))
    return found


def _commits(shop: Shop, branch: str, events: Entries) -> Iterator[Broken]:
    """Each phase that stands landed has exactly one commit with its trailers, and the journal knows each."""
    trailers = "|".join(f"%(trailers:key={key},valueonly,separator=%x2C)" for key in (RUN, PHASE, UNDO))
    rows = [line.split("|") for line in shop.git("log", f"--format=%H|{trailers}", branch).splitlines()]
    of_phase = [(run, phase) for _, run, phase, undo in rows if run and phase and not undo]
    for (run, phase), times in Counter(of_phase).items():
        if times > 1:
            yield Broken("doubled", f"phase {phase} of {run} is on {branch} {times} times")
    commits = {row[0] for row in rows}
    for landing in fold_plan(events).landings:
        for one in landing.landed:
            if one.landed_as not in commits:
                yield Broken(
                    "lost", f"phase {one.phase} landed as {one.landed_as[:12]}, which {branch} lacks"
                )
    landings = (one.event.commits for one in events if isinstance(one.event, LandingDone))
    told = {(one.run, one.phase) for commits in landings for one in starmap(Landed, commits)}
    for run, phase in sorted(set(of_phase) - told):
        yield Broken("torn", f"phase {phase} of {run} is on {branch} and the journal has no landing of it")


def _marks(shop: Shop, branch: str, events: Entries) -> Iterator[Broken]:
    """The plan says done of exactly the phases that stand landed."""
    if shop.address.plan.startswith(("~/", "/")):
        return
    standing = fold_plan(events)
    landed = {one.phase for landing in standing.landings for one in landing.landed}
    in_checkout = (shop.checkout / shop.plan).read_bytes()
    texts = {"the checkout": in_checkout, branch: shop.git("show", f"{branch}:{shop.plan}").encode()}
    wrong = {}
    for where, text in texts.items():
        marked = {phase.id for phase in read(text).phases if phase.status is Status.DONE}
        if marked != landed:
            wrong[where] = sorted(marked)
    if len(wrong) == len(texts):
        yield Broken("torn", f"{sorted(landed)} stand landed, and the plan says {wrong}")


def _events(events: list[Entry]) -> Iterator[Broken]:
    """Events are numbered without a gap; a run ends once."""
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        yield Broken("lost", f"events are numbered {[event.seq for event in events]}")
    ends = Counter(one.run for one in events if isinstance(one.event, RunEnded))
    yield from (Broken("doubled", f"{run} ended {times} times") for run, times in ends.items() if times > 1)


def _repository(shop: Shop) -> Iterator[Broken]:
    """Git finds nothing to complain about, and nobody's lock is left."""
    done = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling", "--no-progress"],  # noqa: S607
        cwd=shop.checkout,
        check=False,
        capture_output=True,
        text=True,
    )
    said = (done.stdout + done.stderr).strip()
    if done.returncode or said:
        yield Broken("lost", f"git fsck: {said or done.returncode}")
    locks = [path for path in (shop.checkout / ".git").rglob("*.lock") if path.name != "config.lock.d"]
    yield from (Broken("left", f"a lock is left: {path.relative_to(shop.checkout)}") for path in locks)


def _workspaces(shop: Shop, over: dict[str, Run]) -> Iterator[Broken]:
    """No workspace is left of a run that has landed, neither on file nor as a folder."""
    landed = {name for name, run in over.items() if run.state in ("landed", "undone")}
    listed = shop.git("worktree", "list", "--porcelain")
    for line in listed.splitlines():
        name, _, path = line.partition(" ")
        if name == "worktree" and Path(path).parent.name in landed:
            yield Broken(
                "left", f"git has a workspace of a landed run on file: {'/'.join(Path(path).parts[-2:])}"
            )
    for folder in (shop.home / "workspaces").glob("*/*/*"):
        if folder.parent.name in landed:
            yield Broken("left", f"a workspace of a landed run is left: {folder.parent.name}/{folder.name}")
    for run in landed:
        if shop.git("for-each-ref", "--format=%(refname)", f"refs/asbuilt/candidates/{run}"):
            yield Broken("left", f"the candidate of a landed run is left: {run}")


def _processes(names: list[str], home: str) -> Iterator[Broken]:
    """No process carries the id of a run, in its words or its environment, soon after its end."""
    end = time.monotonic() + GONE_WITHIN_S
    while (carriers := _carriers(names, home)) and time.monotonic() < end:
        time.sleep(0.1)
    yield from (Broken("orphan", words) for words in carriers)


def _carriers(names: list[str], home: str) -> list[str]:
    marks = [name.encode() for name in names]
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes()
            if any(mark in words or mark in (process / "environ").read_bytes() for mark in marks):
                found.append(
                    words.replace(b"\0", b" ").decode("utf-8", "replace").replace(home, "HOME")[:200]
                )
    return found


def _databases(home: Path) -> Iterator[Broken]:
    """SQLite finds its files whole."""
    for file in (*home.parent.glob("journal.db"), *home.glob("journal.db")):
        with contextlib.closing(sqlite3.connect(file)) as connection:
            said = connection.execute("PRAGMA integrity_check").fetchall()
        if said != [("ok",)]:
            yield Broken("bricked", f"{file.name}: {said[:3]}")
