"""The agent that a plan's last run or its schedule was asked with, and next commands that need an agent."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from asbuilt.cli.runs.next_step import Next, before_work, has_agent, script_option
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.run_context import look_at
from asbuilt.cli.ui.messages import talk
from asbuilt.events.options import RunOptions, value_or
from asbuilt.journal import schedules
from asbuilt.library.repository_discovery import find_repository
from asbuilt.settings import Settings


class Chosen(NamedTuple):
    """The agent and the script that a plan's last run or its schedule was asked with."""

    options: RunOptions
    where: str
    """Name of the run, or the schedule."""

    @property
    def agent(self) -> str:
        """Return the agent; empty: the settings choose it."""
        options = self.options
        named = value_or(options.named_agent, options.agent if options.script else "")
        # The agent that plans is chosen apart from the one that works; a script plays every role.
        return named if options.script or not options.plans else ""

    @property
    def script(self) -> str | None:
        """Return the script, if its file still exists."""
        script = self.options.script
        return script if script and Path(script).is_file() else None

    def report(self, door: Door) -> None:
        """Print the choice, unless it is that of the settings."""
        script = f" with {Path(self.options.script).name}" if self.options.script else ""
        if self.agent or script:
            talk(door, "Agent    ", f"{self.agent or self.options.agent}{script}, as in {self.where}")


def chosen_before(door: Door, plan: str) -> Chosen | None:
    """Return the agent and the script of a plan's last run, authoring or task, else of its schedule."""
    _, site = look_at(door)
    if site is None:
        return None
    address, listed = site.listed(plan)
    working = next((run for run in listed if run.options.kind == "run" or run.options.plans), None)
    if working is not None:
        return Chosen(working.options, working.name)
    with site.journal.store.read() as session:
        scheduled = schedules.find(session, address)
    return Chosen(scheduled.options, "its schedule") if scheduled is not None else None


def with_agent(door: Door, settings: Settings, command: str, *, plan: str = "") -> Next:
    """Return a next command that starts an agent; what git needs first, or an agent, is before it."""
    here = find_repository(door.start)
    if here is not None and (first := before_work(here)) is not None:
        return first
    before = chosen_before(door, plan) if plan else None
    if before is not None and before.script:
        return Next(command)
    if has_agent(settings, door.environ):
        return Next(command + script_option(settings))
    return Next("asbuilt doctor agents", other=f"once an agent is installed: `{command}`")
