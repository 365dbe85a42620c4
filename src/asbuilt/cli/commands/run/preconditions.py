"""Checks before a run starts: lost plan file, errors, nothing left, unmet needs, unsupported execution."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from asbuilt.cli.runs.lost_plan_file import refuse_without_file
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.run_context import look_at
from asbuilt.cli.ui.messages import headline, next_command
from asbuilt.cli.ui.words import counted, listed
from asbuilt.errors import DONE, GateStopped, NotFound, UsageWrong
from asbuilt.library.name_resolution import find
from asbuilt.library.read_plan import Opened
from asbuilt.lifecycle.plan_run.doubts_before_work import plan_in
from asbuilt.plan.graph import cycle
from asbuilt.plan.model import Phase, Plan
from asbuilt.plan.needs import open_needs
from asbuilt.plan.problems import Rule
from asbuilt.settings.layers import Settings


def refuse_lost_plan(door: Door, plan: str) -> None:
    """Raise with the way back if no file of that name exists, and the journal has the plan's text."""
    desk, site = look_at(door)
    try:
        find(desk.library, plan)
    except NotFound:
        listed = site.listed(plan)[1] if site is not None else []
        if site is not None and listed:
            refuse_without_file(site, listed[0])
    except UsageWrong:  # several plans match; the command reports it
        pass


def refuse_errors(slug: str, plan: Plan) -> None:
    """Refuse a plan with errors."""
    errors = [problem for problem in plan.problems if problem.severity == "error"]
    if errors:
        raise GateStopped(
            f"{slug} has {counted(len(errors), 'error')}: {errors[0].message}",
            why=_waits(plan)
            if errors[0].rule is Rule.CIRCULAR_DEPENDENCY
            else "The plan has errors, so asbuilt cannot tell when a phase is done.",
            next_step=f"`asbuilt plan check {slug}`",
        )


def _waits(plan: Plan) -> str:
    circle = cycle({phase.id: phase.depends_on.on for phase in plan.phases})
    if len(circle) == 1:
        return f"Phase {circle[0]} waits for itself, so it cannot start."
    return f"Phases {listed(circle)} wait for each other, so none can start."


def refuse_direct(slug: str, landing: str, settings: Settings, *, hold: bool) -> None:
    """Refuse to land phase by phase where the settings forbid it, or the same command line does."""
    if hold:
        raise UsageWrong(
            "--hold and --direct contradict each other",
            why="--direct lands each phase once it is proven; --hold lands nothing.",
            next_step=f"`asbuilt run {slug} --direct`, or prove all first: `asbuilt run {slug} --hold`",
        )
    if landing == "direct" and settings.text("landing.direct") == "refuse":
        raise GateStopped(
            "direct landing is refused here (landing.direct)",
            why="Nothing reaches a protected branch before all of it is proven.",
            next_step=f"`asbuilt run {slug} --cherry-pick`",
        )


def refuse_too_early(slug: str, phases: Sequence[Phase], done: Collection[str]) -> None:
    """Refuse a phase whose needs are neither done nor part of this run."""
    settled = {*done, *(phase.id for phase in phases)}
    for phase in phases:
        waits = open_needs(phase.depends_on.on, settled)
        if waits and phase.id not in done:
            raise GateStopped(
                f"phase {phase.id} of {slug} waits for phase {', '.join(waits)}",
                why="It needs phases that are not done; nothing was started.",
                next_step=f"`asbuilt run {slug} {waits[0]}`, or all in order: `asbuilt run {slug} --finish`",
            )


def refuse_other_ways(slug: str, phases: Sequence[Phase], landing: str, *, hold: bool) -> None:
    """Refuse phases that cannot be executed as they ask for in this run.

    A phase that is delegated to a plan lands with that plan's run, so phases before it have to land first.
    """
    for phase in phases:
        delegated = phase.execution == "delegate"
        if delegated and plan_in(phase.delegate or "") is None:
            raise GateStopped(
                f"phase {phase.id} of {slug} is delegated to {phase.delegate}",
                why="A phase can be delegated to a plan; asbuilt cannot prove what another command does.",
                next_step=f"Do it by hand, then: `asbuilt plan mark {slug} {phase.id} done`;"
                " or write delegate plans/OTHER.md",
            )
        if delegated and (hold or landing == "pr" or (landing != "direct" and len(phases) > 1)):
            raise GateStopped(
                f"phase {phase.id} of {slug} is delegated to a plan, which lands when its run ends",
                why="The phases before it have to be on the branch by then.",
                next_step=f"`asbuilt run {slug} --auto` runs one phase;"
                f" or all of them: `asbuilt run {slug} --finish --direct --auto`",
            )
        if phase.execution == "direct" and landing != "direct":
            raise GateStopped(
                f"phase {phase.id} of {slug} wants to land directly, and this run lands by {landing}",
                why="All phases of a run must land the same way.",
                next_step=f"`asbuilt run {slug} --direct`, or write worktree in its place.",
            )


def is_nothing_left(plan: Plan, phases: Sequence[Phase], done: Collection[str]) -> bool:
    """Return whether every wanted phase is done, or without any the whole plan."""
    wanted = phases or plan.phases
    return bool(wanted) and all(phase.id in done for phase in wanted)


def report_done(door: Door, opened: Opened, phases: Sequence[Phase], *, has_run: bool) -> int:
    """Report that the wanted phases are done. Nothing is started."""
    slug = opened.at.slug
    if door.emitted("asbuilt.run/1", {"run": None, "plan": opened.at.shown, "state": "done", "exit": DONE}):
        return DONE
    what = f"phase {phases[0].id} is already done" if phases else "the plan is already complete"
    headline(door, slug, f"{what}. Nothing was started.")
    other = f"prove it again: `asbuilt verify {slug} {phases[0].id}`" if phases else ""
    next_command(door, f"asbuilt {'report' if has_run else 'plan show'} {slug}", other=other)
    return DONE
