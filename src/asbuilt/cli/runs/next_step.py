"""The one next command of a run, computed from its state. Rule: it works when typed in that state."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.cli.runs.lost_plan_file import restoring
from asbuilt.cli.shell.checkout import Checkout, Merge, Unlanded
from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.advice import first_command
from asbuilt.cli.ui.messages import as_advice, next_step
from asbuilt.errors import GitFailed, NotFound
from asbuilt.git.first_use import first_commit, is_foreign
from asbuilt.library.repository_discovery import (
    Repository,
    branch_of,
    branches_of,
    is_bare,
    is_detached,
    is_unborn,
)
from asbuilt.library.search_path import Library, plans
from asbuilt.lifecycle.status.run_state import DONE
from asbuilt.policy.agent_kinds import KINDS
from asbuilt.proof.failure import SET_UP, TRY_AGAIN, Failure
from asbuilt.settings import Layer, Settings

if TYPE_CHECKING:
    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.queries.overview import PlanView, RunView


_DEMO: Final = "see a small plan run: `asbuilt demo`"
_SCRIPTED: Final = "scripted"
_SETUP: Final = "checks.setup"
TESTS: Final = ("checks.tests", "checks.suites")
"""The settings of which one says how the tests run."""
_MAY_BE_MERGED: Final = ("held", "failed", "stopped")


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
    runs_plan: bool = False
    """The command is `asbuilt run` of the plan, which needs its file."""

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
        return Next("git clone . ../checkout", other=_DEMO)
    if library.repository is None:
        make = first_commit(library.start, is_repository=False)
        if make and _before_git(library.start, library.start, commits=True):
            # The first commit needs a name, which is the next step then.
            return Next("git init", comment="this folder is no Git repository", other=_DEMO)
        other = _DEMO if make else "go to your repository: `cd your-repo`"
        return Next(make or "asbuilt demo", other=other)
    if (step := before_work(library.repository)) is not None:
        return step
    if not is_able and here:
        return Next("asbuilt doctor agents", other=_DEMO)
    if not is_able:
        return Next("asbuilt demo", other='write a plan: `asbuilt plan new "what you want"`')
    if here:
        return Next(f"asbuilt run {here[0].slug}{script}", other="list the plans: `asbuilt plan list`")
    return Next(f'asbuilt author "what you want to build"{script}', other=_DEMO)


def before_work(repository: Repository) -> Next | None:
    """Return the next command where git refuses to work or has no commit; None if a run can start."""
    is_new = is_unborn(repository)
    if advice := _before_git(repository.root, repository.common, commits=is_new):
        return Next("", advice=advice, other=_DEMO)
    if is_detached(repository):
        return switching(repository)
    return Next(first_commit(repository.root), other=_DEMO) if is_new else None


def switching(repository: Repository, branch: str = "") -> Next:
    """Return the command that checks out a branch: the only one, if none is named. No run starts before."""
    names = [branch] if branch else branches_of(repository)
    command = f"git switch {quote(names[0])}" if len(names) == 1 else "git branch --list"
    return Next(command, comment="no branch is checked out here")


def _before_git(root: Path, common: Path, *, commits: bool) -> str:
    """Return what git needs first in a folder: the user's trust, or, before it commits, the user's name."""
    if not (commits or is_foreign(root, common)):
        return ""
    from asbuilt.git.repository import refuse_foreign  # noqa: PLC0415  it starts git, which few calls need
    from asbuilt.git.user_name import NAMING, is_named  # noqa: PLC0415

    try:
        refuse_foreign(root, common)
        return NAMING if commits and not is_named(common) else ""
    except GitFailed as error:
        return error.next_step
    except NotFound:  # git itself, which the commands that need it name
        return ""


def answering(asked: Approval, name: str) -> Next:
    """Return the command for a question. Plans and open questions are shown first; others are answered."""
    if asked.kind in ("plan", "question"):
        return Next(f"asbuilt approve show {name}")
    note = ' -m "why"' if asked.kind == "waiver" else ""
    return Next(f"asbuilt approve yes {name}{note}", other=f'decline: `asbuilt approve no {name} -m "why"`')


def on_a_branch(following: Next, run: RunView | None, checkout: Checkout | None) -> Next:
    """Return the next command; without a branch in the checkout no new run starts, so it is first."""
    is_new = following.runs_plan and (run is None or run.run.is_over)
    if not is_new or checkout is None or checkout.repository is None or not checkout.is_detached:
        return following
    return switching(checkout.repository, run.run.options.branch if run else "")


def needs_file(following: Next, run: RunView | None) -> bool:
    """Return whether a plan's next command needs its file: a new run, or what a failed run was advised.

    A run that is cut off continues first; it may end without the file.
    """
    if run is not None and not (run.run.is_over or run.is_paused):
        return False
    ends = run is not None and run.run.state in ("failed", "stopped") and not run.run.options.plans
    return following.runs_plan or (ends and bool(following.advice))


def without_its_file(slug: str, run: RunView | None, back: str) -> Next:
    """Return the next command for a plan whose file is gone: what is proven lands from its recorded text.

    `back`: the command that brings the file back.
    """
    if run is not None and run.run.is_over and run.to_land:
        return Next(f"asbuilt land {slug}", other=f"bring the file back: `{back}`")
    is_recorded = run is not None and (bool(run.phases) or _is_told_to_restore(run))
    return Next(back) if is_recorded or back.startswith("git ") else Next("asbuilt plan list")


def _is_told_to_restore(run: RunView) -> bool:
    """Return whether a run ended because its plan's file was gone, and its text is recorded."""
    return first_command(run.waits_for.next_step) == restoring(run.run.options.slug)


def if_misspelt(*, is_setup: bool = False) -> str:
    """Return the alternative to an installation: the name of the program may be a slip in the command."""
    return f'if its name is wrong: `asbuilt config set checks.{"setup" if is_setup else "tests"} "<command>"`'


def _misspelt(failures: Sequence[Failure]) -> str:
    helped = next((failure for failure in failures if failure.next_command), None)
    return if_misspelt(is_setup=helped is not None and helped.what == "setup")


def merges_by_hand(views: Sequence[PlanView], checkout: Checkout | None) -> list[tuple[str, Next] | None]:
    """Return how far the user has merged each plan's proven work by hand, and the next command.

    None: not begun. The checkout is searched once for all plans.
    """
    if checkout is None:
        return [None] * len(views)
    merges = checkout.merges([_unlanded(view) for view in views])
    return [_merged(merge, view) for view, merge in zip(views, merges, strict=True)]


def _unlanded(view: PlanView) -> Unlanded:
    """Return the commits that the user may have merged by hand."""
    run = view.run
    if run is None or run.run.state not in _MAY_BE_MERGED:
        return Unlanded("", None, ())
    proven = (phase.commit for phase in view.phases if phase.state == "proven" and phase.commit)
    return Unlanded(run.run.options.branch, run.base, tuple(proven))


def _merged(merge: Merge, view: PlanView) -> tuple[str, Next] | None:
    branch, land = view.run.run.options.branch if view.run else "", f"asbuilt land {view.slug}"
    match merge:
        case "none":
            return None
        case "begun":
            steps = f"resolve the conflicts and commit, then {land}"
            following = Next("git status", comment=steps, other="give the merge up: `git merge --abort`")
            return "A merge of the proven work is in progress.", following
        case "merged":
            return f"Merged into {branch} by hand; asbuilt has not proven it there yet.", Next(land)


def deciding_again(slug: str) -> Next:
    """Return the next command after a landing that the user declined: land it now, or drop the work."""
    return Next(f"asbuilt land {slug}", other=f"drop the proven work: `asbuilt land {slug} --undo`")


def helping(failures: Sequence[Failure]) -> str:
    """Return the next command of the first failure that has one."""
    return next((failure.next_command for failure in failures if failure.next_command), "")


def installing(failures: Sequence[Failure]) -> str:
    """Return what to do before the command of `helping`; empty if the command itself helps."""
    helped = next((failure for failure in failures if failure.next_command), None)
    is_missing = helped is not None and helped.missing and helped.next_command == TRY_AGAIN
    return f"after you install {helped.missing}" if helped is not None and is_missing else ""


def _output_of_agent(view: RunView) -> str:
    """Return the alternative after an agent that ended without a result: its output; else empty."""
    failed = view.failed
    if failed is None or failed.what != "agent" or view.run.options.kind != "run":
        return ""
    number = next((phase.attempt for phase in view.phases if phase.id == failed.phase), None) or 1
    return f"see what its agent printed: `asbuilt log {view.name}.{failed.phase}.{number}`"


def after(view: RunView, failures: Sequence[Failure] = ()) -> Next:
    """Return the next command for a run that is over."""
    options, state = view.run.options, view.run.state
    slug = options.slug
    # `asbuilt run` repeats neither of these kinds.
    verify = f"asbuilt verify {slug} {options.phase or ''}".rstrip()
    own = {"verify": verify, "undo": f"asbuilt land {slug} --undo"}
    again = own.get(options.kind, f"asbuilt run {slug}")
    log = f"see what happened: `asbuilt log {slug}`"
    match state:
        case "landed" if any(phase.state not in DONE for phase in view.phases):
            return Next(
                f"asbuilt run {slug}", other=f"read the report: `asbuilt report {view.name}`", runs_plan=True
            )
        case "held" | "pr-ready" | "pr-ci-failing" if view.declined:
            return deciding_again(slug)
        case "held" if left := sum(phase.state not in DONE for phase in view.phases):
            return Next(
                f"asbuilt run {slug}{' --finish' * (left > 1)}",
                other=f"land it now: `asbuilt land {slug}`",
                runs_plan=True,
            )
        case "held" | "pr-ready" | "pr-ci-failing":
            return Next(f"asbuilt land {slug}", other=f"read the report: `asbuilt report {slug}`")
        case "failed" if comment := installing(failures):
            return Next(again, comment=comment, other=_misspelt(failures), runs_plan=options.kind not in own)
        case "failed" if command := helping(failures):
            return Next(command, also=again, other=_output_of_agent(view))
        case "failed" if _is_told_to_restore(view):  # `without_its_file` says so for as long as it is gone
            return Next(again, runs_plan=options.kind not in own)
        case "failed" | "stopped" if view.waits_for.next_step:
            # A run that was refused before its first phase is repeated once the user has done that.
            then = "" if view.phases else f"then again: `{again}`"
            return Next("", advice=view.waits_for.next_step, other=view.waits_for.other or then)
        case "failed" if options.kind == "verify" and (failed := view.failed):
            is_open = any(phase.id == failed.phase and phase.state not in DONE for phase in view.phases)
            first = Next(f"asbuilt run {slug}", runs_plan=True)
            return first if is_open else Next(again, comment="after you repair what fails", other=log)
        case "failed" if options.kind == "run":
            otherwise = (
                _output_of_agent(view)
                or f'with a note for the agent: `asbuilt run {slug} -m "what to do differently"`'
            )
            return Next(again, other=otherwise, runs_plan=True)
        case "failed" | "stopped":
            # An authoring that ended without a plan has no file yet, and needs none to start again.
            return Next(again, other=log, runs_plan=options.kind not in own and not options.plans)
        case "undone":
            return Next(f"asbuilt run {slug}", runs_plan=True)
        case "done" if options.kind == "author" or (options.task and options.task.operation == "plan"):
            once = f"one phase: `asbuilt run {slug}`"
            return Next(f"asbuilt run {slug} --finish --auto", other=once, runs_plan=True)
        case "done" if options.plans:
            return Next(f"asbuilt log {slug}")
        case "done" if options.kind in ("run", "land"):  # there was nothing to do
            is_complete = all(phase.state in DONE for phase in view.phases)
            return Next(f"asbuilt report {slug}") if is_complete else Next(again, runs_plan=True)
        case _:
            return Next(f"asbuilt report {view.name}")


def is_set(settings: Settings, *keys: str) -> bool:
    """Return whether a file or a variable sets one of some settings."""
    return any(settings.chosen[key].origin.layer is not Layer.DEFAULT for key in keys)


def lacked_tests(advice: str) -> bool:
    """Return whether the advice at a run's end is to set the tests that the run lacked."""
    return advice.strip("`").startswith(TRY_AGAIN)


def by_settings(following: Next, slug: str, settings: Settings) -> Next:
    """Return a next command for the settings as they are now.

    Tests that a run lacked may be set meanwhile. A wrong setup that a setting names can also be removed. That
    is first where suites are set, because each suite finds its own.
    """
    if lacked_tests(following.advice) and is_set(settings, *TESTS):
        return Next(f"asbuilt run {slug}", runs_plan=True)
    if following.command != SET_UP or not is_set(settings, _SETUP):
        return following
    origin = settings.chosen[_SETUP].origin
    if origin.layer not in (Layer.USER, Layer.REPOSITORY):  # `config set` writes below this layer
        return following._replace(command=origin.correcting.strip("`"))
    unset = f"asbuilt config unset {_SETUP}{' --user' * (origin.layer is Layer.USER)}"
    if is_set(settings, "checks.suites"):
        another = f"set another than {origin.where} does: `{SET_UP}`"
        return following._replace(command=unset, other=another)
    return following._replace(other=f"remove the setup that {origin.where} sets: `{unset}`")


def in_this_state(following: Next, view: PlanView, checkout: Checkout | None) -> Next:
    """Return a next command for the checkout as it is, and after an undo that reverted nothing.

    Of landed work the advice of that undo's refusal comes first; otherwise the undo is the alternative.
    """
    following = following if checkout is None else by_settings(following, view.slug, checkout.settings)
    following, undo = on_a_branch(following, view.run, checkout), view.vain_undo
    is_landed = view.run is not None and view.run.run.state == "landed"
    if undo is None or (following.other and not is_landed):
        return following
    again = f"undo again: `asbuilt land {view.slug} --undo`"
    if is_landed and undo.waits_for.next_step:
        return Next("", advice=undo.waits_for.next_step, other=undo.waits_for.other or again)
    return following._replace(other=again)
