"""`asbuilt verify`: run the checks of finished phases again. No agent works, and nothing lands.

With --replay, the stored checks of a run on its stored trees: in any clone that has the commits; it prints
which clone it used.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote
from typing import NamedTuple

import click
from msgspec import structs

from asbuilt import wiring
from asbuilt.cli.commands.run.follow import ask_for, target_of
from asbuilt.cli.shell.addresses import named, never_ran, slug_of
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import complete_phase, complete_plan, desk_for, naming
from asbuilt.cli.shell.run_context import open_site
from asbuilt.cli.ui.messages import answer, coloured, headline, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, FAILED, GateStopped, NotFound, UsageWrong
from asbuilt.flows.environments.check_environment import CheckEnvironments
from asbuilt.flows.registration import known
from asbuilt.flows.run.environment import given_in, kept
from asbuilt.flows.run.record import Record
from asbuilt.flows.verification.replay import HERE, Replay, Replayed
from asbuilt.git.repository import Repository, open_repository
from asbuilt.git.trees import is_here
from asbuilt.journal import runs
from asbuilt.journal.blobs import Aside
from asbuilt.journal.engine.liveness import only_one
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries import plan_names
from asbuilt.journal.queries.overview import facts_of
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.plan.editing.edit import the_phase
from asbuilt.settings import Settings
from asbuilt.settings.running import check_limit_s, chosen_for_runs


class Stored(NamedTuple):
    """A stored run, and a repository that has its commits."""

    journal: wiring.Journal
    run: Run
    facts: PlanFacts
    repository: Repository


def replay(door: Door, name: str, phase: str | None) -> int:
    """Run the checks of a run again, and print which results no longer hold."""
    settings = desk_for(door).settings
    stored, phase = _find(door, settings, name), phase or named(name).phase
    with _replaying(door, settings, stored) as replay_of:
        wanted = [part for name, part in replay_of.parts().items() if phase in (None, name)]
        if not wanted:
            raise NotFound(
                f"nothing of {stored.run.name}{f' phase {phase}' if phase else ''} can be replayed",
                why="Only what asbuilt has checked in a run can be checked again.",
                next_step=f"`asbuilt report {stored.run.name}` shows what it did.",
            )
        if not door.json:
            where = printable(str(stored.repository.root))
            headline(door, stored.run.name, f"again, on {where}")
        found = []
        for address in wanted:
            found.append(address())
            if not door.json:
                _show(door, found[-1])
    holding = sum(replayed.holds for replayed in found)
    if not door.emitted("asbuilt.replay/1", _json(stored, found)):
        answer(door, "", f"{holding} of {counted(len(found), 'part')} came out as then.")
        if any(row.what == HERE and not row.holds for replayed in found for row in replayed.rows):
            source = stored.run.options.checkout
            next_command(door, f"git fetch {source} 'refs/asbuilt/*:refs/asbuilt/*'")
    return DONE if holding == len(found) else FAILED


def _show(door: Door, replayed: Replayed) -> None:
    pen = door.screen.out
    symbol = pen.symbols.proven if replayed.holds else pen.symbols.failed
    state = "holds" if replayed.holds else "does not hold any more"
    shown = f"{printable(replayed.title)}   {state}: {counted(len(replayed.rows), 'outcome')}"
    first, *rest = pen.hanging(f"{symbol} {replayed.phase:<4}", shown, commands=False, under=6)
    door.screen.answer_all((coloured(pen, symbol) + first.removeprefix(symbol), *rest))
    for row in replayed.rows:
        if not row.holds:
            answer(door, "      ", f"{row.what}: was {row.was}, is {row.now}: {row.why}", under=8)
        elif row.why:
            answer(door, "      ", f"{row.what}: {row.now} as then; {row.why}", under=8)


def _json(stored: Stored, found: list[Replayed]) -> dict[str, object]:
    return {
        "run": stored.run.name,
        "repository": str(stored.repository.root),
        "holds": all(replayed.holds for replayed in found),
        "phases": [
            {
                "phase": replayed.phase,
                "title": replayed.title,
                "holds": replayed.holds,
                "outcomes": [{**row._asdict(), "holds": row.holds} for row in replayed.rows],
            }
            for replayed in found
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
    here = [found[repo]] if repo in found else [pair for pair in found.values() if _has(repository, pair[1])]
    if not here:
        raise never_ran(text)
    if len(here) > 1:
        raise UsageWrong(
            f'"{text}" has run in {len(here)} repositories that this one has commits of',
            why="Several match.",
            next_step=f"`asbuilt verify {text} --replay --repo {quote(here[0][0].options.checkout)}`",
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
                next_step=f"`fuser -v {quote(str(home.path / 'replay.lock'))}` names it; wait for its end.",
            )
        room = home.path / "replay"
        shutil.rmtree(room, ignore_errors=True)
        processes = wiring.check_processes(home, room / "scratch", door.environ)
        if settings.flag("sandbox.required") and processes.level == "none":
            raise GateStopped(
                "Sandbox unavailable here, so no check can run",
                why="They run code that an agent wrote, with your files and network in reach.",
                next_step="`asbuilt doctor --fix sandbox`, or `asbuilt config set sandbox.required false`",
            )
        environments = CheckEnvironments(
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
            yield Replay(record, stored.repository, environments, stored.facts)
        finally:
            shutil.rmtree(room, ignore_errors=True)


@subcommand(
    "verify",
    ("asbuilt verify rate-limit", "every phase that is done"),
    ("asbuilt verify rate-limit 2a", "one phase, done or not"),
    ("asbuilt verify --replay rate-limit.1", "the same checks at the original commits"),
)
@click.argument("plan", shell_complete=complete_plan)
@click.argument("phase", required=False, shell_complete=complete_phase)
@click.option(
    "--replay", "is_replay", is_flag=True, help="run the stored checks of a run on its stored trees"
)
def command(door: Door, plan: str, phase: str | None, *, is_replay: bool) -> int:
    """Run the tests and the checks of every finished phase again, on a clean checkout.

    With --replay, the stored checks of a run are run again at the original commits, and its verdicts are
    judged again. It reports what no longer holds, works in any clone that has the commits, and records
    nothing.
    """
    if is_replay:
        return replay(door, plan, phase)
    site = open_site(door)
    opened = site.desk.open(plan)
    if phase is not None:
        with naming(opened.at.slug):
            the_phase(opened.plan, phase)
    options = structs.replace(
        chosen_for_runs(site.desk.settings),
        kind="verify",
        checkout=str(site.repository.root),
        branch=target_of(site.repository.root),
        slug=opened.at.slug,
        host=machine(),
        mode="verify",
        phase=phase,
    )
    return ask_for(door, site, Address(LOCAL, site.repo, opened.at.shown), opened.at.slug, options)
