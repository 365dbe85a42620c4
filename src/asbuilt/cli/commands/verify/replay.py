"""`asbuilt verify --replay`: run the stored checks of a run again on its stored trees. No agent works.

Rule: it works in any clone that has the commits, and prints which clone it used.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from asbuilt import wiring
from asbuilt.cli.shell.addresses import named, never_ran, slug_of
from asbuilt.cli.shell.desk import desk_for
from asbuilt.cli.ui.messages import answer, coloured, headline, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, FAILED, GateStopped, NotFound, UsageWrong
from asbuilt.flows.enroll import known
from asbuilt.flows.environments.check_environment import Rigs
from asbuilt.flows.run.environment import given_in, kept
from asbuilt.flows.run.record import Record
from asbuilt.flows.verification.replay import HERE, Replay
from asbuilt.git.repository import open_repository
from asbuilt.git.trees import is_here
from asbuilt.journal import runs
from asbuilt.journal.blobs import Aside
from asbuilt.journal.engine.liveness import only_one
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries import plan_names
from asbuilt.journal.queries.overview import facts_of
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.settings.running import check_limit_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.cli.shell.options import Door
    from asbuilt.flows.verification.replay import Replayed
    from asbuilt.git.repository import Repository
    from asbuilt.journal.runs import Run
    from asbuilt.settings import Settings


class Stored(NamedTuple):
    """A stored run, and a repository that has its commits."""

    journal: wiring.Journal
    run: Run
    facts: PlanFacts
    repository: Repository

    @property
    def name(self) -> str:
        """The run's name, as typed."""
        return f"{self.run.options.slug}.{self.run.number}"


def replay(door: Door, name: str, phase: str | None) -> int:
    """Run the checks of a run again, and print which results no longer hold."""
    settings = desk_for(door).settings
    stored, phase = _find(door, settings, name), phase or named(name).phase
    with _replaying(door, settings, stored) as replay_of:
        wanted = [part for name, part in replay_of.parts().items() if phase in (None, name)]
        if not wanted:
            raise NotFound(
                f"nothing of {stored.name}{f' phase {phase}' if phase else ''} can be replayed",
                why="Only what asbuilt has checked in a run can be checked again.",
                next_step=f"`asbuilt report {stored.name}` shows what it did.",
            )
        if not door.json:
            where = printable(str(stored.repository.root))
            headline(door, stored.name, f"again, on {where}")
        found = []
        for one in wanted:
            found.append(one())
            if not door.json:
                _show(door, found[-1])
    holding = sum(one.holds for one in found)
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.replay/1", **_json(stored, found)})
    else:
        answer(door, "", f"{holding} of {counted(len(found), 'part')} came out as then.")
        if any(row.what == HERE and not row.holds for one in found for row in one.rows):
            source = stored.run.options.checkout
            next_command(door, f"git fetch {source} 'refs/asbuilt/*:refs/asbuilt/*'")
    return DONE if holding == len(found) else FAILED


def _show(door: Door, one: Replayed) -> None:
    pen = door.screen.out
    symbol = pen.symbols.proven if one.holds else pen.symbols.failed
    state = "holds" if one.holds else "does not hold any more"
    shown = f"{printable(one.title)}   {state}: {counted(len(one.rows), 'outcome')}"
    first, *rest = pen.hanging(f"{symbol} {one.phase:<4}", shown, commands=False, under=6)
    for line in (coloured(pen, symbol) + first.removeprefix(symbol), *rest):
        door.screen.answer(line)
    for row in one.rows:
        if not row.holds:
            answer(door, "      ", f"{row.what}: was {row.was}, is {row.now}: {row.why}", under=8)
        elif row.why:
            answer(door, "      ", f"{row.what}: {row.now} as then; {row.why}", under=8)


def _json(stored: Stored, found: list[Replayed]) -> dict[str, object]:
    return {
        "run": stored.name,
        "repository": str(stored.repository.root),
        "holds": all(one.holds for one in found),
        "phases": [
            {
                "phase": one.phase,
                "title": one.title,
                "holds": one.holds,
                "outcomes": [{**row._asdict(), "holds": row.holds} for row in one.rows],
            }
            for one in found
        ],
    }


def _find(door: Door, settings: Settings, text: str) -> Stored:
    """Find a run of this repository, else of any repository whose base commit this clone has."""
    journal = wiring.find_journal(settings, door.environ)
    if journal is None:
        raise never_ran(text)
    repository, name = open_repository(door.start), named(text)
    repo = known(journal.store, repository)
    found: dict[str, tuple[Run, PlanFacts]] = {}
    with journal.store.read() as session:
        for plan in plan_names.anywhere(session, LOCAL, slug_of(name.plan)):
            for run in runs.of_plan(session, plan):
                facts = facts_of(session, journal.blobs, run) if name.run in (None, run.number) else None
                if isinstance(facts, PlanFacts):
                    found.setdefault(run.repo, (run, facts))
    here = [found[repo]] if repo in found else [one for one in found.values() if _has(repository, one[1])]
    if not here:
        raise never_ran(text)
    if len(here) > 1:
        raise UsageWrong(
            f'"{text}" has run in {len(here)} repositories that this one has commits of',
            why="Which one is meant cannot be told.",
            next_step="Replay it in the repository in which it ran.",
        )
    run, facts = here[0]
    return Stored(journal, run, facts, repository)


def _has(repository: Repository, facts: PlanFacts) -> bool:
    return facts.base is not None and is_here(repository, facts.base)


@contextmanager
def _replaying(door: Door, settings: Settings, stored: Stored) -> Iterator[Replay]:
    """Make a temporary folder for the new results; it is deleted after this replay, or by the next one."""
    home, run = stored.journal.home, stored.run
    with only_one(home.path / "replay.lock") as mine:
        if not mine:
            raise GateStopped(
                "another replay is under way",
                why="Both would measure each other.",
                next_step="Wait for its end.",
            )
        room = home.path / "replay"
        shutil.rmtree(room, ignore_errors=True)
        processes = wiring.check_processes(home, room / "scratch", door.environ)
        if settings.flag("sandbox.required") and processes.level == "none":
            raise GateStopped(
                "no ring holds here what the checks run",
                why="They run code that an agent wrote, with your files and network in reach.",
                next_step="`asbuilt doctor --fix sandbox`, or `asbuilt config set sandbox.required false`",
            )
        rigs = Rigs(
            home.path / "setups" / run.repo,
            stored.repository,
            processes,
            limit_s=check_limit_s(run.options),
            environment=kept(home.runs / run.run),
            history=stored.facts.base or "",
            given=given_in(home.runs / run.run, run.options),
        )
        aside = Aside(stored.journal.blobs, room / "blobs")
        record = Record(run=run, store=stored.journal.store, blobs=aside)
        try:
            yield Replay(record, stored.repository, rigs, stored.facts)
        finally:
            shutil.rmtree(room, ignore_errors=True)
