"""`asbuilt run`: request a run, start a worker if none is alive, and follow. The worker does the work."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
from msgspec import structs

from asbuilt import wiring
from asbuilt.cli.live.asking import answered
from asbuilt.cli.live.lookout import Lookout
from asbuilt.cli.live.viewers import viewer_for
from asbuilt.cli.runs import outcome
from asbuilt.cli.runs.costs import expected
from asbuilt.cli.runs.doubts import goes_on, refuse_other_ways, refuse_too_early
from asbuilt.cli.runs.drafts import difference
from asbuilt.cli.runs.grants import need_grants
from asbuilt.cli.runs.schedules import put_on, read_times, refuse_contradictions, tell_of_next, times
from asbuilt.cli.runs.terms import announce, terms_of, with_team
from asbuilt.cli.runs.test_command import is_settled, settle
from asbuilt.cli.shell.desk import complete_phase, complete_plan, desk_for, next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import Site, asker, open_site
from asbuilt.cli.ui.clock import now_in
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, GateStopped
from asbuilt.events.options import LANDINGS, one_of
from asbuilt.events.plain import plain_options
from asbuilt.flows.requests import Declined, holder_of, request
from asbuilt.flows.run.approval import need_approval
from asbuilt.git.repository import current_branch, open_repository
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import events_of
from asbuilt.lifecycle.run.preparation import SETTLE
from asbuilt.lifecycle.run.timers import written
from asbuilt.lifecycle.status.standing import done_now, fold_plan
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.model import Status
from asbuilt.proof.projects.resolving import chosen
from asbuilt.settings.running import chosen_for_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from asbuilt.cli.runs.schedules import Timed, When
    from asbuilt.events.options import RunOptions
    from asbuilt.journal.queries.overview import RunView, Told
    from asbuilt.journal.runs import Run
    from asbuilt.library.finding import Opened
    from asbuilt.plan.model import Phase, Plan
    from asbuilt.settings import Settings

_BRANCH: Final = "refs/heads/"
_PAUSE_S: Final = 10.0
_SOON_S: Final = 0.05


class Wish(NamedTuple):
    """The options of the command line."""

    phase: str | None
    finish: bool
    auto: bool
    hold: bool
    landing: str | None
    agent: str | None
    script: str | None


@click.command(
    "run",
    cls=Command,
    examples=[
        ("asbuilt run rate-limit", "its next phase, proven and held for you"),
        ("asbuilt run rate-limit 2a", "this phase"),
        ("asbuilt run rate-limit --finish", "all that is left, asking between phases"),
        ("asbuilt run rate-limit --finish --auto", "all that is left, no questions, then land"),
        ('asbuilt run rate-limit --every "weekday at 22:00"', "a phase a night, unattended"),
        ("asbuilt run rate-limit --finish --between 22:00-07:00", "phases begin only at night"),
        ("asbuilt run rate-limit --finish --pr", "all that is left, as a pull request that you merge"),
        ("asbuilt run rate-limit --dry-run", "what would happen; nothing is written"),
    ],
)
@click.argument("plan", shell_complete=complete_plan)
@click.argument("phase", required=False, shell_complete=complete_phase)
@click.option("--finish", is_flag=True, help="all phases that are left")
@click.option("--auto", is_flag=True, help="ask nothing, and land what is proven")
@click.option("--hold", is_flag=True, help="prove all, land nothing (the default without --auto or --pr)")
@click.option("--cherry-pick", "landing", flag_value="cherry-pick", help="land all of it at the end")
@click.option("--pr", "landing", flag_value="pr", help="land by a pull request; --auto merges it")
@click.option("--direct", "landing", flag_value="direct", help="land each phase as soon as it is proven")
@click.option("--agent", metavar="NAME", help="the agent that works (agents.implement)")
@click.option(
    "--script",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="what the scripted agent plays",
)
@times
@click.option("--dry-run", is_flag=True, help="say what would happen, and write nothing")
@click.option("--foreground", is_flag=True, help="work in this process, without a worker")
@shared(json=True)
def command(door: Door, plan: str, *, dry_run: bool, foreground: bool, when: When, **given: Any) -> int:  # noqa: ANN401 - click passes each option by its name
    """Run a plan: each phase by an agent in a workspace of its own, proven by checks that asbuilt runs."""
    wish = Wish(**given)
    refuse_contradictions(plan, when, finish=wish.finish, phase=wish.phase, foreground=foreground)
    timed = read_times(door, desk_for(door).settings, when)
    wish = wish._replace(auto=wish.auto or timed.every is not None)
    if dry_run:
        return _rehearse(door, plan, wish, timed)
    site = open_site(door)
    opened = site.desk.open(plan)
    if not wish.auto and _is_attended(door):
        site = _settled(door, site, opened)
    options = options_for(site.desk.settings, door.environ, opened, site.repository.root, wish, timed)
    address = Address(LOCAL, site.repo, opened.at.shown)
    _hold_to_approval(door, site, address, opened)
    with site.journal.store.read() as session:
        held = holder_of(session, address)
        done = _done(opened.plan, events_of(session, site.journal.blobs, address))
    if held is not None and timed.every is None:
        return outcome.declined(door, opened.at.slug, held)
    phases = _wanted(opened.plan, wish, done)
    refuse_too_early(opened.at.slug, phases, done)
    if not _goes_ahead(door, opened, phases, options, wish):
        return DONE
    if timed.every and put_on(door, site, address, timed.every, options, is_all=not when.now):
        return DONE
    return ask_for(door, site, address, opened.at.slug, options, is_here=foreground)


def _is_attended(door: Door) -> bool:
    return door.may_ask and not door.json


def _settled(door: Door, site: Site, opened: Opened) -> Site:
    """Ask once for the test command; return the site with reloaded settings."""
    if is_settled(site.desk):
        return site
    settle(door, site.desk, plan=opened.at.shown if _is_inside(site, opened) else "")
    return site._replace(desk=desk_for(door))


def _is_inside(site: Site, opened: Opened) -> bool:
    """Return whether a plan's file is in the repository, and not in the user's own folder."""
    return opened.at.file.resolve().is_relative_to(site.repository.root.resolve())


def _goes_ahead(door: Door, opened: Opened, phases: Sequence[Phase], options: RunOptions, wish: Wish) -> bool:
    """Show doubts, terms and phases that need the user's review; return whether to start."""
    if not goes_on(door, opened, phases, is_attended=not wish.auto and _is_attended(door)):
        return False
    announce(door, options, expected(door, len(phases), options.depth or "normal"))
    _tell_of_eyes(door, phases)
    return _agreed(door, phases, wish)


def _hold_to_approval(door: Door, site: Site, address: Address, opened: Opened) -> None:
    """Refuse a plan whose text differs from the approved one, and show the changes."""
    store, blobs = site.journal.store, site.journal.blobs
    data, by = opened.plan.source.data, asker(door).actor
    try:
        need_approval(store, blobs, address, slug=opened.at.slug, data=data, by=by)
    except GateStopped:
        for row in difference(site, address, opened.plan, door.screen.err):
            door.screen.talk(row)
        raise


def ask_for(
    door: Door, site: Site, address: Address, slug: str, options: RunOptions, *, is_here: bool = False
) -> int:
    """Request a run, start a worker and follow it. A declined run prints who holds the plan."""
    journal = site.journal
    options = need_grants(door, options)
    asked = request(journal.store, journal.home.runs, address, slug=slug, options=options, asker=asker(door))
    if isinstance(asked, Declined):
        return outcome.declined(door, slug, asked)
    if is_here:
        return _in_this_process(door, site, asked)
    return look_on(door, site, asked, wiring.ensure_worker(journal.home, door.environ))


def look_on(door: Door, site: Site, run: Run, pid: int, *, starts: bool = True) -> int:
    """Follow a run. Ctrl-C leaves it running and prints how to watch or stop it.

    With `starts`, a worker is started whenever none is alive.
    """
    home = site.journal.home

    def is_served() -> bool:
        return (wiring.ensure_worker(home, door.environ) if starts else wiring.worker_pid(home)) is not None

    lookout = _lookout(door, site, run, is_served=is_served)
    try:
        view = _until_it_ends(door, site, lookout)
    except KeyboardInterrupt:
        return _left_running(door, run, wiring.worker_pid(home) or pid)
    code = outcome.shown(door, view)
    tell_of_next(door, site, run.address)
    return code


def _left_running(door: Door, run: Run, pid: int) -> int:
    """Print that the run continues in the worker, and how to watch or stop it."""
    slug = run.options.slug
    door.screen.talk(printable(f"Left running: {slug}.{run.number} goes on in the worker (pid {pid})."))
    for lead, command in (("Look on: ", "watch"), ("End it:  ", "stop")):
        door.screen.talk(lead + door.screen.err.bold(f"asbuilt {command} {slug}"))
    return DONE


def _lookout(
    door: Door, site: Site, run: Run, *, is_served: Callable[[], bool], is_here: bool = False
) -> Lookout:
    bell = site.desk.settings.flag("attention.bell")
    viewer = viewer_for(door.screen, bell=bell, person=asker(door).actor)
    attempts = wiring.attempts(site.journal.home)
    return Lookout(site.journal, run, viewer, attempts, is_served=is_served, is_here=is_here)


def _until_it_ends(door: Door, site: Site, lookout: Lookout) -> RunView:
    """Follow a run until it is over or waits for an answer that is not given here."""
    view = lookout.watch()
    while answered(door, site, view):
        view = lookout.watch()
    return view


def _in_this_process(door: Door, site: Site, run: Run) -> int:
    """Act as the worker for this run. If a worker is already alive, it does the work."""
    home, ended = site.journal.home, threading.Event()
    thread = threading.Thread(
        target=wiring.serve, args=(site.journal, site.desk.settings, ended), daemon=True
    )
    thread.start()
    while (pid := wiring.worker_pid(home)) is None and thread.is_alive():
        time.sleep(_SOON_S)
    if pid != os.getpid():
        return look_on(door, site, run, pid or wiring.ensure_worker(home, door.environ))
    lookout = _lookout(door, site, run, is_served=thread.is_alive, is_here=True)
    try:
        view = _until_it_ends(door, site, lookout)
    except KeyboardInterrupt:
        return _pause(door, lookout)
    ended.set()
    thread.join(10)
    return outcome.shown(door, view)


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
    next_command(door, f"asbuilt resume {view.run.options.slug}")
    # Do not wait for the engine's threads: they wait for an agent, and every move can be repeated.
    wiring.leave()


def options_for(
    settings: Settings, environ: Mapping[str, str], opened: Opened, checkout: Path, wish: Wish, timed: Timed
) -> RunOptions:
    """Build the options of a run: flags before settings. Raise if the run could not work."""
    plan, slug = opened.plan, opened.at.slug
    errors = [problem for problem in plan.problems if problem.severity == "error"]
    if errors:
        raise GateStopped(
            f"{slug} has {counted(len(errors), 'error')}: {errors[0].message}",
            why="A run would work, and prove, against a text that contradicts itself.",
            next_step=f"`asbuilt plan check {slug}`",
        )
    branch = target_of(checkout)
    phase = None if wish.phase is None else the_phase(plan, wish.phase).id
    landing = one_of(LANDINGS, wish.landing or settings.text("landing.mode"))
    if landing == "direct" and settings.text("landing.direct") == "refuse":
        raise GateStopped(
            "direct landing is refused here (landing.direct)",
            why="Nothing reaches a protected branch before all of it is proven.",
            next_step=f"`asbuilt run {slug} --cherry-pick`",
        )
    refuse_other_ways(slug, _wanted(plan, wish, _done(plan, [])), landing)
    by_settings = chosen_for_runs(settings)
    options = structs.replace(
        by_settings,
        kind="run",
        checkout=str(checkout),
        branch=branch,
        slug=slug,
        issues=tuple(plan.issues),
        host=machine(),
        mode="finish" if wish.finish else "phase",
        phase=phase,
        auto=wish.auto,
        between=timed.hours,
        # Opening a pull request needs no approval; merging it does.
        hold=wish.hold or not (wish.auto or landing == "pr"),
        landing=landing,
        pull=structs.replace(by_settings.pull, branch_prefix=settings.text("landing.branch_prefix")),
    )
    return with_team(options, settings, environ, agent=wish.agent, script=wish.script)


def target_of(checkout: Path) -> str:
    """Return the checked-out branch, on which proven work lands."""
    branch = (current_branch(open_repository(checkout)) or "").removeprefix(_BRANCH)
    if not branch:
        raise GateStopped(
            "no branch is checked out here",
            why="What is proven lands on the branch that you work on.",
            next_step="`git branch --list` shows them; switch to the one it is to land on, then run again.",
        )
    return branch


def _done(plan: Plan, events: Told) -> frozenset[str]:
    """Return the phases that are done. Proven phases that have not landed are marked in no file yet."""
    return done_now(fold_plan(events), (phase.id for phase in plan.phases if phase.status is Status.DONE))


def _wanted(plan: Plan, wish: Wish, done: frozenset[str]) -> list[Phase]:
    """Return the phases that a run would work on, in file order."""
    if wish.phase is not None:
        return [the_phase(plan, wish.phase)]
    left = [phase for phase in plan.phases if phase.id not in done]
    return left if wish.finish else [phase for phase in left if done.issuperset(phase.depends_on.on)][:1]


def _tell_of_eyes(door: Door, phases: Sequence[Phase]) -> None:
    """Print which phases need the user's review before landing."""
    seen = [phase.id for phase in phases if phase.touches_ui]
    if seen and not door.json:
        many = len(seen) > 1
        which = f"Phases {', '.join(seen[:-1])} and {seen[-1]} change" if many else f"Phase {seen[0]} changes"
        them = "them" if many else "it"
        door.screen.talk(f"{which} what people see: landing waits until you have looked at {them}.")


def _agreed(door: Door, phases: Sequence[Phase], wish: Wish) -> bool:
    """Show what a phase promises and ask for confirmation; `--finish` and `--auto` imply it."""
    if wish.auto or wish.finish or not phases or not door.may_ask or door.json:
        return True
    for phase in phases:
        after = ", ".join(phase.depends_on.on)
        door.screen.talk(printable(f"{phase.id}  {phase.title}{f'   after {after}' if after else ''}"))
        for item in phase.work_items:
            for row in door.screen.err.hanging("  - ", item.text, commands=False):
                door.screen.talk(row)
        door.screen.talk(f"  {counted(len(phase.checks), 'check')} of its own")
    return click.confirm("Run it?", default=True, err=True)


def _rehearse(door: Door, name: str, wish: Wish, timed: Timed) -> int:
    desk = desk_for(door)
    opened = desk.open(name)
    repository = desk.library.repository
    is_open = repository is not None and not is_settled(desk)
    saved = is_open and _is_attended(door) and settle(door, desk).chosen is not None
    desk = desk_for(door) if saved else desk
    checkout = repository.root if repository else door.start
    options = options_for(desk.settings, door.environ, opened, checkout, wish, timed)
    now = written(now_in(None))
    heard = wiring.plan_events(desk.settings, door.environ, repository, opened.at.shown) if repository else []
    done = _done(opened.plan, heard)
    wanted = _wanted(opened.plan, wish, done)
    refuse_too_early(opened.at.slug, wanted, done)
    phases = [{"id": phase.id, "title": phase.title} for phase in wanted]
    if door.json:
        told = {"phases": phases, "options": plain_options(options), "schedule": timed.plain(now)}
        door.screen.emit_json({"schema": "asbuilt.rehearsal/1", **told})
        return DONE
    screen = door.screen
    screen.answer(f"{screen.out.bold(opened.at.slug)}   {printable(opened.at.shown)}")
    for phase in phases:
        screen.answer(printable(f"{screen.out.symbols.not_started} {phase['id']:<4}{phase['title']}"))
    suites = chosen(options)
    tests = ", ".join(suite.shown for suite in suites or ()) or "none; only the plan's checks run"
    unset = f"not set; `{SETTLE}` tries what it finds and saves it"
    answer(door, "Tests    ", unset if suites is None else tests)
    terms = terms_of(options, expected(door, len(phases), options.depth or "normal"))
    for lead, words in [*terms, *timed.rows(now)]:
        answer(door, f"{lead:<9}", words)
    if not saved:
        screen.talk("Nothing was written.")
    return DONE
