"""The agent that a plan's last run was asked with, and next commands that need an agent."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from asbuilt.cli.runs.next_step import Next, before_work, has_agent, script_option
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.run_context import look_at
from asbuilt.cli.ui.messages import talk
from asbuilt.events.options import value_or
from asbuilt.journal.runs import Run
from asbuilt.library.repository import find_repository
from asbuilt.settings import Settings


class Chosen(NamedTuple):
    """The agent and the script that a plan's last run was asked with."""

    run: Run

    @property
    def agent(self) -> str:
        """Return the agent; empty: the settings choose it."""
        options = self.run.options
        named = value_or(options.named_agent, options.agent if options.script else "")
        # The agent that plans is chosen apart from the one that works; a script plays every role.
        return named if options.script or not options.plans else ""

    @property
    def script(self) -> str | None:
        """Return the script, if its file still exists."""
        script = self.run.options.script
        return script if script and Path(script).is_file() else None

    def report(self, door: Door) -> None:
        """Print the choice, unless it is that of the settings."""
        script = f" with {Path(self.run.options.script).name}" if self.run.options.script else ""
        if self.agent or script:
            talk(door, "Agent    ", f"{self.agent or self.run.options.agent}{script}, as in {self.run.name}")


def chosen_before(door: Door, plan: str) -> Chosen | None:
    """Return the agent and the script of a plan's last run, authoring or task."""
    _, site = look_at(door)
    _, listed = site.listed(plan) if site else (None, [])
    working = (run for run in listed if run.options.kind == "run" or run.options.plans)
    return next(map(Chosen, working), None)


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
