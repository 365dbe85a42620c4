"""The one next command of a run, computed from its state. Rule: it works when typed in that state."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.cli.ui.messages import as_advice, next_step
from asbuilt.library.repository import Repository, branch_of, is_bare, is_unborn
from asbuilt.library.search_path import Library, plans
from asbuilt.lifecycle.status.progress import DONE
from asbuilt.policy.agent_kinds import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.cli.shell.options import Door
    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.queries.overview import RunView
    from asbuilt.proof.failure import Failure
    from asbuilt.settings import Settings


_SCRIPTED: Final = "scripted"


class Next(NamedTuple):
    """The command to type next, and an alternative."""

    command: str
    also: str = ""
    """The command that follows the first one."""
    other: str = ""
    """What the alternative does, and its command in backticks."""
    comment: str = ""
    """What to know before the command is typed."""
    advice: str = ""
    """A sentence instead of a command, where the user has to do something outside of asbuilt."""

    def show(self, door: Door) -> None:
        """Print the command on stderr, and the alternative below it."""
        commands = filter(None, (self.command, self.also))
        next_step(door, self.advice or as_advice(*commands, comment=self.comment), other=self.other)


def place_of(repository: Repository | None, start: Path) -> tuple[str, str]:
    """Return the repository's name, and its branch in words."""
    if repository is None and is_bare(start):
        return start.name, "a bare Git repository, which has no files to work on"
    if repository is None:
        return "asbuilt", "not in a Git repository"
    branch = branch_of(repository)
    without = ", no commit yet" if is_unborn(repository) else ""
    return repository.name, f"on {branch}{without}" if branch else "no branch checked out"


def installed(environ: Mapping[str, str]) -> list[str]:
    """Return the agents whose programs are installed."""
    path = environ.get("PATH", os.defpath)
    return [kind.name for kind in KINDS.values() if kind.program and shutil.which(kind.program, path=path)]


def named_agent(settings: Settings) -> str:
    """Return the agent that the settings name; empty: an installed one is used."""
    return settings.text("roles.implement") or settings.text("agents.implement")


def has_agent(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Return whether a run finds an agent: the settings name one, or one is installed."""
    return bool(named_agent(settings) or installed(environ))


def script_option(settings: Settings) -> str:
    """Return the option that a command needs if the settings name the scripted agent; else nothing."""
    name = named_agent(settings)
    kind = settings.named("agents").get(name, {}).get("kind") or name
    return " --script FILE" if kind == _SCRIPTED else ""


def first_step(library: Library, *, is_able: bool, script: str = "") -> Next:
    """Return the next command where nothing has run yet.

    Not `is_able`: there is no agent. `script` is the option that the scripted agent needs.
    """
    here = [plan for plan in plans(library) if plan.slug]
    if library.repository is None and is_bare(library.start):
        return Next("git clone . ../checkout", other="see a small plan run: `asbuilt demo`")
    if library.repository is None:
        return Next("asbuilt demo", other="go to a Git repository first: `cd your-repo`")
    if is_unborn(library.repository):
        return Next("git commit --allow-empty -m start", other="see a small plan run: `asbuilt demo`")
    if not is_able:
        return Next("asbuilt demo", other='write a plan: `asbuilt plan new "what you want"`')
    if here:
        return Next(f"asbuilt run {here[0].slug}{script}", other="list the plans: `asbuilt plan list`")
    return Next(
        f'asbuilt author "what you want to build"{script}', other="see a small plan run: `asbuilt demo`"
    )


def answering(asked: Approval, name: str) -> Next:
    """Return the command for a question. Plans and open questions are shown first; others are answered."""
    if asked.kind in ("plan", "question"):
        return Next(f"asbuilt approve show {name}")
    note = ' -m "why"' if asked.kind == "waiver" else ""
    return Next(f"asbuilt approve yes {name}{note}", other=f'decline: `asbuilt approve no {name} -m "why"`')


def helping(failures: Sequence[Failure]) -> str:
    """Return the next command of the first failure that has one."""
    return next((failure.next_command for failure in failures if failure.next_command), "")


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
        case "failed" | "stopped" if view.waits_for.next_step:
            return Next("", advice=view.waits_for.next_step, other=view.waits_for.other)
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
