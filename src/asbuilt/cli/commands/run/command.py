"""`asbuilt run`: start a plan, or continue it. The worker does the work."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import click

from asbuilt import wiring
from asbuilt.cli.commands.run.follow import ask_for
from asbuilt.cli.commands.run.options import Wish, done_phases, options_for, wanted_phases
from asbuilt.cli.commands.run.preconditions import (
    is_nothing_left,
    refuse_errors,
    refuse_lost_plan,
    refuse_too_early,
    report_done,
)
from asbuilt.cli.commands.run.resume import Continuing, continue_named, continue_only
from asbuilt.cli.commands.run.schedule import Timed, When, put_on, read_times, refuse_contradictions, times
from asbuilt.cli.commands.run.start_confirmation import (
    are_doubts_accepted,
    is_start_confirmed,
    promises,
    report_files_left_out,
    report_sign_offs_to_come,
)
from asbuilt.cli.runs import outcome
from asbuilt.cli.runs.agent_choice import chosen_before
from asbuilt.cli.runs.costs import expected
from asbuilt.cli.runs.drafts import difference
from asbuilt.cli.runs.next_step import has_agent
from asbuilt.cli.runs.run_terms import announce, terms_of
from asbuilt.cli.runs.test_command import is_settled, need_setup, settle
from asbuilt.cli.shell.options import Door, script_option, subcommand, with_options
from asbuilt.cli.shell.plan_context import complete_phase, complete_plan, desk_for, naming
from asbuilt.cli.shell.renamed import ONLY_NOTE
from asbuilt.cli.shell.run_context import Site, asker, open_site
from asbuilt.cli.ui.clock import now_in
from asbuilt.cli.ui.messages import answer, headline, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, GateStopped, UsageWrong
from asbuilt.events.options import RunOptions
from asbuilt.events.options_json import plain_options
from asbuilt.flows.requests import holder_of, note
from asbuilt.flows.run.approval import need_approval
from asbuilt.git.repository import open_repository
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import events_of
from asbuilt.library.read_plan import Opened
from asbuilt.lifecycle.run.preflight import SETTLE
from asbuilt.lifecycle.run.retry_times import written
from asbuilt.lifecycle.status.plan_state import done_now, fold_plan
from asbuilt.plan.model import Phase
from asbuilt.proof.projects.recorded import chosen

_NOTE: Final = 1_500
"""Longest note, in characters of JSON; an event is small."""
_EXAMPLES: Final = [
    ("asbuilt run rate-limit", "its next phase, or continue where it stopped"),
    ("asbuilt run rate-limit 2a", "this phase"),
    ("asbuilt run rate-limit --finish", "all remaining phases, asking between them"),
    ("asbuilt run rate-limit --finish --auto", "all remaining phases, no questions, then land"),
    ('asbuilt run rate-limit --every "weekday at 22:00"', "a phase a night, unattended"),
    ("asbuilt run rate-limit --finish --between 22:00-07:00", "phases start only at night"),
    ("asbuilt run rate-limit --finish --pr", "all remaining phases, as a pull request that you merge"),
    ('asbuilt run rate-limit -m "we use Redis 6"', "with a note for the next attempt"),
    ("asbuilt run rate-limit --agent codex", "continue with another agent"),
    ("asbuilt run rate-limit --detach", "return at once; asbuilt watch follows it"),
    ("asbuilt run rate-limit --dry-run", "show what would happen; nothing is written"),
]

_landing = with_options(
    click.option(
        "--hold", is_flag=True, help="prove all, land nothing (default without --auto, --pr, --direct)"
    ),
    click.option("--cherry-pick", "landing", flag_value="cherry-pick", help="land all of it at the end"),
    click.option("--pr", "landing", flag_value="pr", help="land by a pull request; --auto merges it"),
    click.option("--direct", "landing", flag_value="direct", help="land each phase once it is proven"),
)
"""Where proven commits go."""
_work = with_options(
    click.option("--agent", metavar="NAME", help="the agent that works (agents.implement)"),
    click.option(
        "--lanes",
        metavar="N",
        type=click.IntRange(1, 64),
        help="phases to work on at once, with --auto (run.lanes)",
    ),
    script_option("file with the scripted agent's actions"),
)
"""Who works, and on how many phases at once."""


@subcommand("run", *_EXAMPLES)
@click.argument("plan", required=False, shell_complete=complete_plan)
@click.argument("phase", required=False, shell_complete=complete_phase)
@click.option("--finish", is_flag=True, help="all remaining phases")
@click.option("--auto", is_flag=True, help="ask nothing, and land what is proven")
@_landing
@_work
@click.option("-m", "--message", metavar="TEXT", help="a note for the next attempt; it changes no criterion")
@times
@click.option("--dry-run", is_flag=True, help="show what would happen, and write nothing")
@click.option("--detach", is_flag=True, help="return at once; the worker continues")
@click.option("--foreground", is_flag=True, help="work in this process, without a worker")
@click.option(ONLY_NOTE, "is_only_note", is_flag=True, hidden=True)
def command(  # noqa: PLR0913 - click passes each option by its name
    door: Door,
    plan: str | None,
    *,
    dry_run: bool,
    detach: bool,
    foreground: bool,
    is_only_note: bool,
    message: str | None,
    **given: Any,  # noqa: ANN401 - click passes each option by its name
) -> int:
    """Start a plan, or continue it: paused, parked, stopped, failed or cut off.

    Each phase is written by an agent in a workspace of its own and proven by checks that asbuilt runs.
    """
    when = When(*(given.pop(name) for name in When._fields))
    wish = Wish(**given)
    is_timed = when.every is not None or when.between is not None
    continuing = Continuing(
        wish.agent, wish.script, detach, is_plain=wish.is_plain and not is_timed and not foreground
    )
    if plan is None:
        scheduled = continue_only(door, continuing)
        if isinstance(scheduled, int):
            return scheduled
        plan = scheduled
    refuse_contradictions(plan, when, finish=wish.finish, phase=wish.phase, foreground=foreground)
    timed = read_times(door, desk_for(door).settings, when, plan=plan)
    wish = wish._replace(auto=wish.auto or timed.implies_auto)
    refuse_lost_plan(door, plan)
    if dry_run:
        return _rehearse(door, plan, _as_before(door, plan, wish), timed)
    if message is not None:
        slug = _noted(door, plan, message)
        if is_only_note:
            if not door.emitted("asbuilt.note/1", {"plan": slug, "note": message.strip()}):
                next_command(door, f"asbuilt status {slug}")
            return DONE
    if timed.every is None and (code := continue_named(door, plan, continuing)) is not None:
        return code
    wish = _as_before(door, plan, wish)
    return _start(door, plan, wish, timed, is_all=not when.now, is_here=foreground, detach=detach)


def _as_before(door: Door, plan: str, wish: Wish) -> Wish:
    """Add the agent and the script of the plan's last run, unless the user names others."""
    before = chosen_before(door, plan)
    if before is None or wish.agent not in (None, before.options.agent):
        return wish
    is_told = wish.agent is None and wish.script is None
    return wish._replace(
        agent=wish.agent or before.agent or None,
        script=wish.script or before.script,
        before=before if is_told else None,
    )


def _start(  # noqa: PLR0913 - a run is followed in these ways
    door: Door, plan: str, wish: Wish, timed: Timed, *, is_all: bool, is_here: bool, detach: bool
) -> int:
    if (desk := desk_for(door)).library.repository is None:
        open_repository(door.start)  # raises
    opened = desk.open(plan)  # raises for an unknown plan before `open_site` writes
    site = open_site(door)
    refuse_errors(opened.at.slug, opened.plan)
    address = Address(LOCAL, site.repo, opened.at.shown)
    with site.journal.store.read() as session:
        held = holder_of(session, address)
        standing = fold_plan(events_of(session, site.journal.blobs, address))
    done = done_now(standing, opened.plan.marked_done)
    with naming(opened.at.slug):
        phases = wanted_phases(opened.plan, wish, done)
    if held is None and not standing.unlanded and is_nothing_left(opened.plan, phases, done):
        return report_done(door, opened, phases, has_run=bool(site.listed(plan)[1]))
    if not wish.auto and door.is_attended:
        # Refuse a run that could not work before its tests are tried, which may take minutes.
        options_for(site.desk.settings, door.environ, opened, site.repository.root, wish, timed)
        site = _settled(door, site, opened)
    options = options_for(site.desk.settings, door.environ, opened, site.repository.root, wish, timed)
    _hold_to_approval(door, site, address, opened)
    if held is not None and timed.every is None:
        return outcome.declined(door, opened.at.slug, held)
    refuse_too_early(opened.at.slug, phases, done)
    if (phases or standing.unlanded) and not _goes_ahead(door, opened, phases, options, wish):
        return DONE
    if timed.every and put_on(door, site, address, timed.every, options, is_all=is_all):
        return DONE
    return ask_for(door, site, address, opened.at.slug, options, is_here=is_here, detach=detach)


def _noted(door: Door, plan: str, text: str) -> str:
    """Save a note for the plan's next attempt; return the plan's name."""
    content = text.strip()
    if not content or len(json.dumps(content)) > _NOTE:
        raise UsageWrong(
            f"a note of {len(content)} characters cannot be stored; it has 1 to {_NOTE}",
            why="The requirements of a phase are in its plan; a note only helps the agent.",
            next_step=f'`asbuilt run {plan} -m "a short note"`, or write it into the plan.',
        )
    opened = desk_for(door).open(plan)  # raises for an unknown plan before `open_site` writes
    site = open_site(door)
    address = Address(LOCAL, site.repo, opened.at.shown)
    note(site.journal.store, address, opened.at.slug, text=content, asker=asker(door))
    if not door.json:
        headline(door, opened.at.slug, "Note saved for the next attempt. Criteria and checks are unchanged.")
    return opened.at.slug


def _settled(door: Door, site: Site, opened: Opened) -> Site:
    """Ask once for the test command; return the site with reloaded settings."""
    if is_settled(site.desk):
        return site
    settled = settle(door, site.desk, plan=opened.at.shown if _is_inside(site, opened) else "")
    need_setup(settled.seen)
    return site._replace(desk=desk_for(door))


def _is_inside(site: Site, opened: Opened) -> bool:
    """Return whether a plan's file is in the repository, and not in the user's own folder."""
    return opened.at.file.resolve().is_relative_to(site.repository.root.resolve())


def _goes_ahead(door: Door, opened: Opened, phases: Sequence[Phase], options: RunOptions, wish: Wish) -> bool:
    if not are_doubts_accepted(door, opened, phases, is_attended=not wish.auto and door.is_attended):
        return False
    if wish.before is not None:
        wish.before.report(door)
    announce(door, options, expected(door, len(phases), options.depth or "normal"))
    report_files_left_out(door, options, opened.at.shown)
    report_sign_offs_to_come(door, phases)
    is_implied, slug = wish.auto or wish.finish, opened.at.slug
    return is_start_confirmed(door, slug, phases, is_implied=is_implied, again=wish.typed(slug, door.start))


def _hold_to_approval(door: Door, site: Site, address: Address, opened: Opened) -> None:
    """Refuse a plan whose text differs from the approved one, and show the changes."""
    store, blobs = site.journal.store, site.journal.blobs
    data, by = opened.plan.source.data, asker(door).actor
    try:
        need_approval(store, blobs, address, slug=opened.at.slug, data=data, by=by)
    except GateStopped:
        door.screen.talk_all(difference(site, address, opened.plan, door.screen.err))
        raise


def _rehearse(door: Door, name: str, wish: Wish, timed: Timed) -> int:
    if wish.before is not None:
        wish.before.report(door)
    desk = desk_for(door)
    opened = desk.open(name)
    repository = desk.library.repository
    is_open = repository is not None and not is_settled(desk)
    saved = is_open and door.is_attended and settle(door, desk).chosen is not None
    desk = desk_for(door) if saved else desk
    checkout = repository.root if repository else door.start
    # The times of a schedule need no agent.
    has_team = timed.every is None or bool(wish.agent) or has_agent(desk.settings, door.environ)
    options = options_for(desk.settings, door.environ, opened, checkout, wish, timed) if has_team else None
    now = written(now_in(None))
    events = (
        wiring.plan_events(desk.settings, door.environ, repository, opened.at.shown) if repository else []
    )
    done = done_phases(opened.plan, events)
    wanted = wanted_phases(opened.plan, wish, done)
    if not door.json and is_nothing_left(opened.plan, wanted, done):
        return report_done(door, opened, wanted, has_run=bool(events))
    refuse_too_early(opened.at.slug, wanted, done)
    phases = [{"id": phase.id, "title": phase.title} for phase in wanted]
    rehearsal = {
        "phases": phases,
        "options": options and plain_options(options),
        "schedule": timed.plain(now),
    }
    if door.emitted("asbuilt.rehearsal/1", rehearsal):
        return DONE
    screen = door.screen
    screen.answer(f"{screen.out.bold(opened.at.slug)}   {printable(opened.at.shown)}")
    for phase in wanted:
        screen.answer(printable(f"{screen.out.symbols.not_started} {phase.id:<4}{phase.title}"))
        screen.answer_all(() if wish.auto or wish.finish else promises(phase, screen.out))
    terms = [("Agents", "none installed; asbuilt doctor agents lists them")]
    if options is not None:
        suites = chosen(options)
        tests = ", ".join(suite.shown for suite in suites or ()) or "none; only the plan's checks run"
        unset = f"not set; `{SETTLE}` tries what it finds and saves it"
        expects = expected(door, len(wanted), options.depth or "normal")
        terms = [("Tests", unset if suites is None else tests), *terms_of(options, expects)]
    for lead, words in [*terms, *timed.rows(now)]:
        answer(door, f"{lead:<9}", words)
    if not saved:
        screen.talk("Nothing was written.")
    return DONE
