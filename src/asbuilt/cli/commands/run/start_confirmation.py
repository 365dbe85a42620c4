"""Questions and notes before a run is requested: doubts, what the phases promise, and sign-offs to come.

Rule: a no starts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.confirm import accepted, agreed
from asbuilt.cli.ui.messages import next_command, talk
from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import GateStopped
from asbuilt.git.repository import base_on, left_out, open_repository
from asbuilt.lifecycle.plan_run.doubts_before_work import course_for, doubts_in

if TYPE_CHECKING:
    from asbuilt.events.options import RunOptions
    from asbuilt.library.read_plan import Opened
    from asbuilt.plan.model import Phase

_NAMED: Final = 3


def are_doubts_accepted(door: Door, opened: Opened, phases: Sequence[Phase], *, is_attended: bool) -> bool:
    """Print the doubts and ask the user. Unattended, raise `GateStopped` on a grave doubt."""
    doubts = doubts_in(opened.plan, phases)
    for doubt in doubts:
        door.screen.talk(printable(f"! phase {doubt.phase}, line {doubt.line}: {doubt.what}"))
    slug = opened.at.slug
    match course_for(doubts, is_attended=is_attended):
        case "go" | "tell":
            return True
        case "ask":
            if agreed(door, "Run it all the same?"):
                return True
            door.screen.answer("Nothing was started.")
            next_command(door, f'asbuilt plan refine {slug} "what changes"')
            return False
        case "refuse":
            worst = next(doubt for doubt in doubts if doubt.is_grave)
            raise GateStopped(
                f"phase {worst.phase} of {slug} contradicts itself: {worst.what}",
                why="The stated number differs too much from the number computed from the plan.",
                next_step=f"`asbuilt plan check {slug}` shows all of it; correct line {worst.line}.",
            )
        case other:
            assert_never(other)


def is_start_confirmed(
    door: Door, slug: str, phases: Sequence[Phase], *, is_implied: bool, again: str
) -> bool:
    """Show what each phase promises and ask for confirmation; `--finish` and `--auto` imply it.

    `again`: the command that asks again.
    """
    if is_implied or not phases or not door.is_attended:
        return True
    for phase in phases:
        after = ", ".join(phase.depends_on.on)
        door.screen.talk(printable(f"{phase.id}  {phase.title}{f'   after {after}' if after else ''}"))
        door.screen.talk_all(promises(phase, door.screen.err))
    if accepted(door, "Run it?"):
        return True
    door.screen.answer("Nothing was started.")
    next_command(door, again, other=f"read the plan: `asbuilt plan show {slug}`")
    return False


def promises(phase: Phase, pen: Pen) -> Iterator[str]:
    """Return the rows with a phase's work items and the number of its checks."""
    for item in phase.work_items:
        yield from pen.hanging("  - ", item.text, commands=False)
    yield f"  {counted(len(phase.checks), 'check')} of its own"


def report_files_left_out(door: Door, options: RunOptions, plan: str) -> None:
    """Print which files no agent sees, because the branch of the run has no files yet."""
    repository = open_repository(Path(options.checkout))
    found = [path for path in left_out(repository, base_on(repository, options.branch)) if path != plan]
    if found:
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        shown = f"{options.branch} has no files; not committed, so no agent sees them: "
        talk(door, "Base     ", printable(f"{shown}{', '.join(found[:_NAMED])}{more}"))


def report_sign_offs_to_come(door: Door, phases: Sequence[Phase]) -> None:
    """Print which phases change what people see: their landing waits for a sign-off."""
    seen = [phase.id for phase in phases if phase.touches_ui]
    if seen and not door.json:
        many = len(seen) > 1
        which = f"Phases {', '.join(seen[:-1])} and {seen[-1]} change" if many else f"Phase {seen[0]} changes"
        them = "them" if many else "it"
        door.screen.talk(f"{which} what people see: landing waits until you have looked at {them}.")
