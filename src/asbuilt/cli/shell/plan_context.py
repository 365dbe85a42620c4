"""Common setup of the plan commands: the library, the settings for plans, and tab completion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from asbuilt.cli.shell.options import Door, door_of
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import AsbuiltError
from asbuilt.library.name_resolution import find
from asbuilt.library.read_plan import Opened, open_plan
from asbuilt.library.repository_discovery import real
from asbuilt.library.search_path import Library, PlanFile, library_around, plans
from asbuilt.plan.lint import Length
from asbuilt.plan.model import Plan
from asbuilt.settings import Settings


@contextmanager
def naming(plan: str) -> Iterator[None]:
    """Write the plan's name into the next command of an error that has only `PLAN`."""
    try:
        yield
    except AsbuiltError as error:
        error.next_step = error.next_step.replace(" PLAN", f" {plan}")
        raise


class Desk(NamedTuple):
    """The library of a command, and the settings to read plans with."""

    library: Library
    settings: Settings

    @property
    def ui_patterns(self) -> tuple[str, ...]:
        """Globs of files that the user reviews before their phase lands."""
        return self.settings.globs("ui.patterns")

    @property
    def length(self) -> Length:
        """The maximum length of a plan."""
        return Length(self.settings.text("plan.length"))

    def open(self, name: str) -> Opened:
        """Find a plan by what was typed, and read it."""
        return self.read(find(self.library, name))

    def read(self, at: PlanFile) -> Opened:
        """Read a plan with the current settings."""
        return open_plan(self.library, at, ui_patterns=self.ui_patterns, length=self.length)

    def name_of(self, at: PlanFile) -> str:
        """Return what can be typed for a plan: its name if that is unique, else its path."""
        alike = [plan for plan in plans(self.library) if plan.slug == at.slug]
        if at.slug and len(alike) == 1 and real(alike[0].file) == real(at.file):
            return at.slug
        start = self.library.start
        return quote(str(at.file.relative_to(start) if at.file.is_relative_to(start) else at.file))


def desk_for(door: Door) -> Desk:
    """Open the library around the command's start folder, and warn of a refused plans.folder."""
    desk = Desk(*library_around(door.start, door.environ))
    if desk.library.refused is not None:
        refused = printable(desk.library.refused)
        screen = door.screen
        screen.talk(
            f"{screen.err.symbols.note} plans.folder {refused} leads out of the repository;"
            " plans/ is used instead."
        )
    return desk


def problem_counts(plan: Plan) -> str:
    """Return the number of errors and warnings of a plan; empty if it has none."""
    errors = sum(problem.severity == "error" for problem in plan.problems)
    warnings = sum(problem.severity == "warning" for problem in plan.problems)
    parts = [counted(errors, "error")] * bool(errors) + [counted(warnings, "warning")] * bool(warnings)
    return ", ".join(parts)


def show_the_first_step(door: Door, desk: Desk) -> None:
    """Print how to write the first plan, in this repository or in the user's own folder."""
    where = "" if desk.library.repository is not None else " --user"
    next_command(door, f'asbuilt plan new "what you want"{where}')


def complete_plan(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete plan names, newest first. If none matches, the shell completes files."""
    del parameter
    try:
        door = door_of(context, json=True)
        every = plans(library_around(door.start, door.environ)[0])
    except AsbuiltError:  # completion cannot report errors
        return []
    named = [plan for plan in every if plan.slug and plan.slug.startswith(incomplete)]
    named.sort(key=lambda plan: plan.changed_at, reverse=True)
    return [CompletionItem(plan.slug, help=plan.shown) for plan in named] or [
        CompletionItem(incomplete, type="file")
    ]


def complete_phase(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete phases of the plan that was named before."""
    del parameter
    # While an option still needs its value, click has not yet assigned arguments to parameters.
    name = context.params.get("plan") or next(iter(context.args), None)
    if not name:
        return []
    try:
        door = door_of(context, json=True)
        opened = Desk(*library_around(door.start, door.environ)).open(str(name))
    except AsbuiltError:  # completion cannot report errors
        return []
    return [
        CompletionItem(phase.id, help=phase.title)
        for phase in opened.plan.phases
        if phase.id.startswith(incomplete)
    ]
