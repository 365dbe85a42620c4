"""The one next command of a run, computed from its state. Rule: it works when typed in that state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.cli.ui.messages import next_step
from asbuilt.lifecycle.status.progress import DONE

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.queries.overview import RunView
    from asbuilt.proof.failure import Failure


class Next(NamedTuple):
    """The command to type next, and an alternative."""

    command: str
    also: str = ""
    """The command that follows the first one."""
    other: str = ""
    """What the alternative does, and its command in backticks."""
    advice: str = ""
    """A sentence instead of a command, where the user has to do something outside of asbuilt."""

    def show(self, door: Door) -> None:
        """Print the command on stderr, and the alternative below it."""
        also = f", then `{self.also}`" if self.also else ""
        next_step(door, (self.advice or f"`{self.command}`") + also, other=self.other)


def answering(asked: Approval, name: str) -> Next:
    """Return the command for a question. Plans and open questions are shown first; others are answered."""
    if asked.kind in ("plan", "question"):
        return Next(f"asbuilt approve show {name}")
    note = ' -m "why"' if asked.kind == "waiver" else ""
    return Next(f"asbuilt approve yes {name}{note}", other=f'decline: `asbuilt approve no {name} -m "why"`')


def helping(failures: Sequence[Failure]) -> str:
    """Return the next command of the first failure that has one."""
    return next((one.next_command for one in failures if one.next_command), "")


def after(view: RunView, failures: Sequence[Failure] = ()) -> Next:
    """Return the next command for a run that is over."""
    options, state = view.run.options, view.run.state
    slug = options.slug
    again = f"asbuilt verify {slug}" if options.kind == "verify" else f"asbuilt run {slug}"
    log = f"see what happened: `asbuilt log {slug}`"
    match state:
        case "held" if left := sum(phase.state not in DONE for phase in view.phases):
            return Next(
                f"asbuilt run {slug}{' --finish' * (left > 1)}", other=f"land it now: `asbuilt land {slug}`"
            )
        case "held" | "pr-ready" | "pr-ci-failing":
            return Next(f"asbuilt land {slug}", other=f"read the report: `asbuilt report {slug}`")
        case "failed" if command := helping(failures):
            return Next(command, also=again)
        case "failed" if view.waits_for.next_step:
            return Next("", advice=view.waits_for.next_step)
        case "failed" | "stopped":
            return Next(again, other=log)
        case "undone":
            return Next(f"asbuilt run {slug}")
        case "done" if options.kind == "author" or (options.task and options.task.operation == "plan"):
            return Next(f"asbuilt run {slug} --finish --auto", other=f"one phase: `asbuilt run {slug}`")
        case "done" if options.plans:
            return Next(f"asbuilt log {slug}")
        case _:
            return Next(f"asbuilt report {view.name}")
