"""Continue a plan's last run, in any state, with the settings of now. Proven phases are not repeated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET, structs

from asbuilt.cli.commands.run.fleet import from_here, serving
from asbuilt.cli.commands.run.follow import ask_for, look_on
from asbuilt.cli.commands.stop import end
from asbuilt.cli.runs import outcome
from asbuilt.cli.runs.agent_choice import Chosen
from asbuilt.cli.runs.grants import need_grants
from asbuilt.cli.runs.lost_plan_file import refuse_without_file
from asbuilt.cli.runs.run_terms import landing_of, with_team
from asbuilt.cli.shell.addresses import is_served
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.plan_context import desk_for
from asbuilt.cli.shell.run_context import Site, asker, look_at, the_only
from asbuilt.cli.ui.confirm import accepted
from asbuilt.cli.ui.messages import next_command, talk
from asbuilt.cli.wording.runs import change_words
from asbuilt.errors import DONE, GATE_STOPPED, NotFound
from asbuilt.flows.requests import renew, resume
from asbuilt.flows.run.environment import keep_given
from asbuilt.journal import runs, schedules
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.overview import RunView
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.status.ended_runs import is_continued
from asbuilt.settings.running import Change, renewed


class Continuing(NamedTuple):
    """What the user asks of a run that continues."""

    agent: str | None
    script: str | None
    detach: bool
    is_plain: bool
    """No option asks for a run of another shape: an ended run may continue as it was."""

    def names_another(self, run: Run) -> bool:
        """Return whether the user names another agent than that of a run, or the same with another script."""
        script = str(Path(self.script).absolute()) if self.script else run.options.script
        return self.agent is not None and (self.agent, script) != (run.options.agent, run.options.script)


def continue_named(door: Door, plan: str, wish: Continuing) -> int | None:
    """Continue a plan's last run. None: a new run has to be requested."""
    _, site = look_at(door)
    if site is None:
        return None
    _, listed = site.listed(plan)
    if listed:
        refuse_without_file(site, listed[0])
    newest = runs.to_continue(listed)
    return _continued(door, site, newest, wish) if newest is not None else None


def continue_only(door: Door, wish: Continuing) -> int | str:
    """Continue the only run here that can, or return the only scheduled plan, which needs a new run."""
    _, site = look_at(door)
    if site is not None:
        with site.journal.store.read() as session:
            newest = runs.unfinished(session, LOCAL, site.repo)
            scheduled = schedules.every(session, LOCAL, site.repo)
        served = is_served(site.journal)
        able = [run for run in newest if _can_continue(site, site.view(run), is_served=served)]
        run = the_only(able, [other_run.options.slug for other_run in able], "run")
        if run is not None:
            return _continued(door, site, run, wish) or DONE
        early = the_only(scheduled, [schedule.slug for schedule in scheduled], "run")
        if early is not None:
            return early.slug
    if door.emitted("asbuilt.run/1", {"run": None, "exit": DONE}):
        return DONE
    door.screen.answer("No run here can continue.")
    next_command(door, "asbuilt plan list")
    return DONE


def _continued(door: Door, site: Site, run: Run, wish: Continuing) -> int | None:
    """Continue a run. None: it is over, and the next run of the plan is a new one."""
    view = site.view(run)
    if run.is_over:
        if not is_continued(run.options.kind, run.state) or not wish.is_plain:
            return None
        if run.options.plans and _is_written(site, run):
            return None
        if run.options.kind == "land" and not site.standing(run.address).unlanded:
            return None
        return _again(door, site, view, wish)
    if view.questions and not view.is_paused:
        # The question stays open; a run that waits for its answer takes the settings that changed.
        _, changes = renewed(run.options, site.desk.settings)
        return _wake(door, site, run, wish) if changes else outcome.shown(door, view)
    if not _can_continue(site, view, is_served=is_served(site.journal)):
        # A plan that is still being written is followed: there is no plan to run yet.
        is_written = not run.options.plans or _is_written(site, run)
        return None if is_written or not wish.is_plain else _wake(door, site, run, wish)
    # No agent works in an undo.
    if wish.names_another(run) and run.options.kind != "undo":
        # The session belongs to the agent before: its files are kept, and a new run takes them over.
        return _again(door, site, end(door, site, run, f"continued with {wish.agent}"), wish)
    return _wake(door, site, run, wish)


def _can_continue(site: Site, view: RunView, *, is_served: bool) -> bool:
    """Return whether `run` continues a run. It withdraws a pause, also one that has not taken effect."""
    if view.run.is_over:
        return is_continued(view.run.options.kind, view.run.state)
    if view.run.state == "waiting":
        return not view.questions
    with site.journal.store.read() as session:
        return runs.pauses(session, view.run).is_open or not is_served


def _is_written(site: Site, run: Run) -> bool:
    """Return whether the file of an authored plan exists, so that `run` means the plan."""
    try:
        site.desk.open(run.plan)
    except NotFound:
        return False
    return True


def _again(door: Door, site: Site, view: RunView, wish: Continuing) -> int:
    """Continue an ended run as a new run from where it stopped."""
    run = view.run
    options, changes = renewed(run.options, site.desk.settings)
    if not agreed(door, changes):
        return GATE_STOPPED
    if wish.script:
        options = structs.replace(options, script=wish.script)
    if wish.agent:
        options = with_team(
            options, site.desk.settings, door.environ, agent=wish.agent, script=options.script
        )
    elif not wish.script:
        Chosen(run.options, run.name).report(door)
    if options.kind == "run" and not options.holds:
        # A plain `run` continues one that lands unattended, which its words do not say.
        talk(door, "Lands    ", f"{landing_of(options)}, as in {run.name}")
    # A single-phase run lands the phase that it has proven, and starts no other.
    proven = [phase.id for phase in view.phases if phase.state == "proven" and options.mode == "phase"]
    phase = proven[-1] if proven else options.phase
    options = structs.replace(options, phase=phase, continues=run.run)
    return ask_for(door, site, run.address, run.options.slug, options, detach=wish.detach)


def _wake(door: Door, site: Site, run: Run, wish: Continuing) -> int:
    """Continue a waiting run now. An interrupted run continues once a worker is alive."""
    if run.options.kind == "undo":
        talk(door, "Undo     ", f"{run.name} continues: it reverts what the plan has landed or proven")
    options, changes = renewed(run.options, site.desk.settings)
    if not agreed(door, changes):
        return GATE_STOPPED
    if site.has_clone:
        options = need_grants(door, from_here(site, options), needs_values=run.options.fleet is UNSET)
    # Reload the settings: a new grant is stored there.
    site = site._replace(desk=desk_for(door))
    if run.options.fleet is UNSET:
        keep_given(site.journal.home.runs / run.run, door.environ, options)
    renew(site.journal.store, run, site.desk.settings, asker=asker(door))
    resume(site.journal.store, run, asker=asker(door))
    return look_on(door, site, run, serving(door, site, run.options), detach=wish.detach, is_new=False)


def agreed(door: Door, changes: Sequence[Change]) -> bool:
    """Show settings that changed since the run started. Ask for confirmation if a command changed."""
    for change in changes:
        talk(door, "Settings ", change_words(*change))
    if not any(change.is_command for change in changes) or not door.is_attended:
        return True
    return accepted(door, "Continue with them?")
