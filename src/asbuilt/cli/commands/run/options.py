"""What a run does, or each run of a schedule: the options of the command line, before the settings."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from asbuilt.cli.commands.run.follow import target_of
from asbuilt.cli.commands.run.preconditions import refuse_direct, refuse_errors, refuse_other_ways
from asbuilt.cli.commands.run.schedule import Timed
from asbuilt.cli.runs.agent_choice import Chosen
from asbuilt.cli.runs.run_terms import with_team
from asbuilt.cli.shell.plan_context import naming
from asbuilt.events.options import LANDINGS, RunOptions, one_of
from asbuilt.git.forge.github import open_forge
from asbuilt.git.repository import open_repository
from asbuilt.journal.home import machine
from asbuilt.journal.queries.overview import Entries
from asbuilt.library.read_plan import Opened
from asbuilt.lifecycle.status.plan_state import done_now, fold_plan
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.model import Phase, Plan
from asbuilt.plan.needs import may_start
from asbuilt.settings import Settings
from asbuilt.settings.running import chosen_for_runs


class Wish(NamedTuple):
    """The options of the command line."""

    phase: str | None
    finish: bool
    auto: bool
    hold: bool
    landing: str | None
    agent: str | None
    script: str | None
    lanes: int | None = None
    before: Chosen | None = None
    """The choice of the last run, if it is taken over and reported."""

    @property
    def is_plain(self) -> bool:
        """Whether no option asks for a run of another shape than the last one."""
        return not (self.phase or self.finish or self.auto or self.hold or self.landing or self.lanes)

    def typed(self, slug: str, start: Path) -> str:
        """Return the command that asks for the same; an agent that is taken over from before is not named."""
        script, here = Path(self.script or ""), start.resolve()
        shown = script.relative_to(here) if script.is_relative_to(here) else script
        names = {} if self.before else {"--agent": self.agent, "--script": self.script and str(shown)}
        given = {**names, "--lanes": self.lanes and str(self.lanes)}
        words = [word for name, value in given.items() if value for word in (name, value)]
        flags = ["--hold"] * self.hold + [f"--{self.landing}"] * bool(self.landing)
        return shlex.join(["asbuilt", "run", slug, *([self.phase] if self.phase else ()), *flags, *words])


def options_for(
    settings: Settings, environ: Mapping[str, str], opened: Opened, checkout: Path, wish: Wish, timed: Timed
) -> RunOptions:
    """Build the options of a run: flags before settings. Raise if the run could not work."""
    plan, slug = opened.plan, opened.at.slug
    refuse_errors(slug, plan)
    branch = target_of(checkout)
    with naming(slug):
        phase = None if wish.phase is None else the_phase(plan, wish.phase).id
    landing = one_of(LANDINGS, wish.landing or settings.text("landing.mode"))
    refuse_direct(slug, landing, settings, hold=wish.hold and wish.landing == "direct")
    if landing == "pr":
        # Refuse before an agent works, not when its work is proven and no pull request can be opened.
        open_forge(open_repository(checkout), environ)
    # Opening a pull request needs no approval; merging it does. A typed --direct approves its landings.
    hold = wish.hold or not (wish.auto or landing == "pr" or wish.landing == "direct")
    refuse_other_ways(slug, wanted_phases(plan, wish, done_phases(plan, [])), landing, hold=hold)
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
        hold=hold,
        landing=landing,
        lanes=wish.lanes or settings.number("run.lanes"),
        pull=structs.replace(by_settings.pull, branch_prefix=settings.text("landing.branch_prefix")),
    )
    return with_team(options, settings, environ, agent=wish.agent, script=wish.script)


def done_phases(plan: Plan, events: Entries) -> frozenset[str]:
    """Return the phases that are done. Proven phases that have not landed are marked in no file yet."""
    return done_now(fold_plan(events), plan.marked_done)


def wanted_phases(plan: Plan, wish: Wish, done: frozenset[str]) -> list[Phase]:
    """Return the phases that the run is to do."""
    if wish.phase is not None:
        return [the_phase(plan, wish.phase)]
    left = [phase for phase in plan.phases if phase.id not in done]
    return left if wish.finish else [phase for phase in left if may_start(phase.depends_on.on, done)][:1]
