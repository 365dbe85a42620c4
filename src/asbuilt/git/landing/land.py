"""Land commits on a branch. Rule: a landing happens once and completely, or not at all.

All cases use one mechanism: a push into the same repository with a lease on the old tip. The push swaps the
ref and updates its checkout, if there is one; changes of the user are never overwritten. The caller journals
the `Intent` before it calls `land`.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.errors import ForgeFailed, GitFailed, NotLanded, RepositoryBusy
from asbuilt.git.command import check_branch, check_oid
from asbuilt.git.commits import contains
from asbuilt.git.landing.checkout_update import HOOK_WAITS, Settled, is_locked, settle, write_hook
from asbuilt.git.landing.refusal_remedies import Remedy, look, set_aside, stash
from asbuilt.git.landing.uncommitted_work import between, filtered, in_the_way, lines_at_stake, overlapping
from asbuilt.git.locks import guarded, heal, lock_of, recorded
from asbuilt.git.repository import Checkout, Repository, checkouts, checkouts_of, operations, tip
from asbuilt.lifecycle.pull_request.forge import BranchMoved

if TYPE_CHECKING:
    from asbuilt.git.fleet import SharedRefs

Kind = Literal[
    "in_the_way", "your_changes", "operation", "checked_out_twice", "no_target", "restless", "locked", "git",
    "programs", "protected",
]  # fmt: skip
_PATIENCE_S: Final = 10.0
_TURN_S: Final = 60.0
"""Another landing can be stopped, or run tests for an hour, while it has the turn."""
_PROTECTED: Final = re.compile(
    r"(?i)protected branch|GH006|GH013|rule violations|pre-receive hook declined|"
    r"not allowed to push|prohibited by|status checks? (?:is|are) expected|TF402455"
)


class Intent(Struct, frozen=True, kw_only=True):
    """A planned move of a branch, as plain text, so that it can be journalled first."""

    run: str
    ref: str
    old: str
    new: str
    checkout: str | None
    """The checkout that is updated, or None if the branch is not checked out."""


class Landed(Struct, frozen=True, kw_only=True):
    """The branch contains the commits."""

    ref: str
    new: str
    already: bool = False
    """It contained them before this call: an earlier try succeeded."""
    checkout: str | None = None


class TipMoved(Struct, frozen=True, kw_only=True):
    """The branch has moved and nothing landed; rebuild and prove the candidate on the new tip."""

    ref: str
    found: str | None


class NotMoved(Struct, frozen=True, kw_only=True):
    """An interrupted landing did not happen; its checkout is restored, and it can be tried again."""

    settled: Settled


class Refused(Struct, frozen=True, kw_only=True):
    """Nothing moved; the landing needs user action."""

    kind: Kind
    paths: tuple[str, ...]
    what: str
    why: str
    next_step: str
    remedy: Remedy | None = None
    """A command that helps, if one is known."""

    def error(self) -> NotLanded:
        """Return the error to show to the user."""
        return NotLanded(self.what, why=self.why, next_step=self.next_step)


@contextmanager
def turn(repository: Repository, *, patience_s: float = _TURN_S) -> Iterator[None]:
    """Take turns with other landings to build, prove and land; waits at most `patience_s`.

    A turn only saves work: if two landings prove at once, one proves in vain, and among many the slow ones
    never land. The ref swap makes a landing atomic, so after the wait a landing continues without the turn.
    """
    with ExitStack() as held:
        with suppress(RepositoryBusy):
            held.enter_context(guarded(repository.common / "refs", patience_s=patience_s))
        yield


def prepare(
    repository: Repository, *, run: str, branch: str, old: str, new: str
) -> Intent | Landed | TipMoved | Refused:
    """Check whether a candidate can land; change nothing."""
    ref = check_branch(branch)
    found = tip(repository, ref)
    if found is None:
        return no_target(ref)
    if contains(repository, found, check_oid(new)):
        return Landed(ref=ref, new=new, already=True)
    if found != old:
        return TipMoved(ref=ref, found=found)
    if not contains(repository, new, old):
        raise GitFailed(
            f"candidate {new[:12]} is not built on {old[:12]}",
            why="A landing only ever adds to a branch.",
            next_step="`asbuilt doctor bug-report` packs what a report needs; this is a bug in asbuilt.",
        )
    held = checkouts_of(repository, ref)
    if len(held) > 1:
        return _refused(
            "checked_out_twice",
            f"{_short(ref)} is checked out in {len(held)} folders",
            f"Only one checkout can be updated: {', '.join(str(place.path) for place in held)}. "
            "Nothing moved.",
            "Switch all but one to another branch",
        )
    for checkout in held:
        refused = _look(repository, checkout, ref, old, new)
        if refused is not None:
            return refused
    return Intent(run=run, ref=ref, old=old, new=new, checkout=str(held[0].path) if held else None)


def land(
    repository: Repository, intent: Intent, room: Path, *, hold: Callable[[], object] = lambda: None
) -> Landed | TipMoved | Refused:
    """Move the branch. `room` is a folder for the hook. Safe to call again after a crash.

    `hold` is called right before the branch moves, after all waiting; if it raises, the branch does not move.
    """
    hooks = room.resolve() / "landing-hooks"
    write_hook(hooks)
    until = time.monotonic() + _PATIENCE_S
    is_first = True
    with guarded(repository.common) as descriptor:
        _settle_all(repository)
        while True:
            ready = prepare(repository, run=intent.run, branch=intent.ref, old=intent.old, new=intent.new)
            if not isinstance(ready, Intent):
                return ready
            held = next(iter(checkouts_of(repository, ready.ref)), None)
            if held is None or not is_locked(held):
                hold()
                with recorded(repository, lock_of(ready.ref), "HEAD.lock"):
                    output = _push(repository, ready, held, hooks, descriptor)
                outcome = _judged(repository, ready, held, output)
                # A program that git started may have been killed, so try again; a real obstacle fails
                # again.
                is_chance = is_first and isinstance(outcome, Refused) and outcome.kind == "git"
                if outcome is not None and not is_chance:
                    return outcome
                is_first = False
            if time.monotonic() > until:
                return _locked(ready.ref, held)
            time.sleep(0.1)


def recover(repository: Repository, intent: Intent) -> Landed | TipMoved | NotMoved:
    """Determine how an interrupted landing ended, and repair its checkout path by path."""
    with guarded(repository.common):
        settled = _settle_all(repository)
        found = tip(repository, intent.ref)
        if found is not None and contains(repository, found, intent.new):
            return Landed(ref=intent.ref, new=intent.new, already=True, checkout=intent.checkout)
        if found != intent.old:
            return TipMoved(ref=intent.ref, found=found)
        return NotMoved(settled=settled)


def _push(repository: Repository, intent: Intent, held: Checkout | None, hooks: Path, descriptor: int) -> str:
    """Let git move the ref and its checkout; return git's output. The ref itself shows the result."""
    # Every advertised ref costs time, so the refs of attempts, which never land, are hidden. A push resets
    # GIT_CONFIG_COUNT before it starts receive-pack, so it is set again here.
    receive = (
        f"GIT_CONFIG_COUNT={len(repository.programs.off)} git"
        " -c receive.denyCurrentBranch=updateInstead -c receive.autogc=false"
        " -c core.fsmonitor=false -c core.fsync=committed,reference -c receive.hideRefs=refs/asbuilt/attempts"
        " -c core.alternateRefsCommand=true -c core.filesRefLockTimeout=5000 -c 'safe.directory=*'"
        f" -c {shlex.quote(f'core.hooksPath={hooks}')} receive-pack"
    )
    git = replace(
        repository.git,
        as_user=True,
        timeout_s=1800.0,
        # Every process that the push starts inherits the lock, so that recovery waits for its end.
        descriptors=(descriptor,),
        shielded=True,
    ).with_environment(
        ASBUILT_OLD=intent.old,
        ASBUILT_NEW=intent.new,
        ASBUILT_CHECKOUT=os.path.realpath(held.git_dir) if held else "",
    )
    result = git.run(
        "push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
        f"--force-with-lease={intent.ref}:{intent.old}", f"--receive-pack={receive}", "--",
        ".", f"{intent.new}:{intent.ref}", allowed=(0, 1, 128),
    )  # fmt: skip
    return f"{result.err}\n{result.line}".strip()


def _judged(
    repository: Repository, intent: Intent, held: Checkout | None, output: str
) -> Landed | TipMoved | Refused | None:
    """Determine the result from the ref; None means that another try is worthwhile."""
    found = tip(repository, intent.ref)
    if held is not None:
        settle(repository, held)
    if found is not None and contains(repository, found, intent.new):
        return Landed(ref=intent.ref, new=intent.new, checkout=str(held.path) if held else None)
    if found != intent.old:
        return TipMoved(ref=intent.ref, found=found)
    if HOOK_WAITS in output:
        return None
    again = _look(repository, held, intent.ref, intent.old, intent.new) if held else None
    what, why = f"git did not move {_short(intent.ref)}", f"git said: {output[:2000]}. Nothing moved."
    return again or _refused("git", what, why, "Fix what git reports")


def _settle_all(repository: Repository) -> Settled:
    heal(repository)
    found = [settle(repository, checkout) for checkout in checkouts(repository)]
    return Settled(
        restored=tuple(path for settled in found for path in settled.restored),
        left=tuple(path for settled in found for path in settled.left),
    )


def _look(repository: Repository, checkout: Checkout, ref: str, old: str, new: str) -> Refused | None:
    branch = _short(ref)
    here = f"{branch} is checked out in {checkout.path}"
    untouched = f"Nothing moved: {branch} and your files are unchanged."
    for busy in operations(checkout.git_dir):
        leave = "git bisect reset" if busy == "bisect" else f"git {busy} --abort"
        return _refused(
            "operation",
            f"{checkout.path} is in the middle of a {busy}",
            f"{branch} is checked out there. Nothing moved.",
            f"Finish it, or {leave}",
            remedy=look(repository, checkout, f"finish the {busy}, or end it: {leave}"),
        )
    paths = between(repository, old, new)
    if drivers := filtered(checkout, paths, repository.programs.drivers):
        return _refused(
            "programs",
            f"files that this plan changes go through {_named(drivers)}, to which you have not agreed",
            "The repository's own git settings name the program. Without it the files in your checkout would"
            f" not be what git makes of them. {untouched}",
            "Check it with git config --get-regexp ^filter; if it is yours:"
            f" asbuilt config set landing.programs +{repository.programs.digest}",
        )
    if blocking := in_the_way(checkout, paths):
        return _refused(
            "in_the_way",
            f"{_named(blocking)} {_per(blocking, 'is', 'are')} in the way, and this plan adds it",
            f"{here}, and what you have there would be overwritten. {untouched}",
            f"Move {_per(blocking, 'it', 'them')} elsewhere",
            blocking,
            set_aside(repository, checkout, blocking, paths.added, old),
        )
    if overlap := overlapping(checkout, paths, old):
        lines = sum(lines_at_stake(checkout, path, old) for path in overlap)
        lost = f"{lines} of your lines" if lines else "your changes"
        return _refused(
            "your_changes",
            f"you have uncommitted changes in {_named(overlap)}, which this plan changes",
            f"{here}; {lost} would be lost. {untouched}",
            "Commit or stash them",
            overlap,
            stash(repository, checkout, overlap, old),
        )
    return None


def _locked(ref: str, held: Checkout | None) -> Refused:
    where = held.path if held else "the checkout"
    lock = held.git_dir / "index.lock" if held else where
    why = f"{lock} was there for {_PATIENCE_S:g} seconds, and {_short(ref)} is checked out there."
    do = "Wait for that git to end, or remove the lock if none runs; asbuilt tries again automatically."
    what = f"Not landed: another git is at work in {where}."
    return Refused(kind="locked", paths=(), what=what, why=f"{why} Nothing moved.", next_step=do)


def no_target(ref: str) -> Refused:
    """Return the refusal for a target branch that does not exist."""
    return _refused(
        "no_target",
        f"there is no branch {_short(ref)}",
        "A landing adds to a branch that exists. Nothing moved.",
        f"Make it (git branch {_short(ref)}) or name another target",
    )


def moved_too_often(ref: str, times: int) -> Refused:
    """Return the refusal for a target that moved `times` times during the proof."""
    return _refused(
        "restless",
        f"{_short(ref)} moved {times} times while this was being proven",
        "What lands is proven on the very tip that it lands on. Nothing moved.",
        f"Wait until {_short(ref)} rests",
    )


def _refused(
    kind: Kind, what: str, why: str, do: str, paths: tuple[str, ...] = (), remedy: Remedy | None = None
) -> Refused:
    what, next_step = f"Not landed: {what}.", f"{do}, then land again."
    return Refused(kind=kind, paths=paths, what=what, why=why, next_step=next_step, remedy=remedy)


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _named(paths: tuple[str, ...]) -> str:
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")


def _per(paths: tuple[str, ...], single: str, several: str) -> str:
    return single if len(paths) == 1 else several


def land_on_remote(
    shared: SharedRefs, intent: Intent, *, hold: Callable[[], object]
) -> Landed | TipMoved | Refused:
    """Move a branch of the remote. Safe to call again after a crash.

    `hold` is called right before the push; if it raises, the branch does not move.
    """
    branch = intent.ref.removeprefix("refs/heads/")
    hold()
    try:
        moved = shared.remote.push(branch, intent.new, expected=intent.old)
    except ForgeFailed as error:
        if not _PROTECTED.search(error.why):
            raise
        return Refused(
            kind="protected",
            paths=(),
            what=f"Not landed: the remote does not accept a push to {branch}.",
            why=f"{error.why[:400]} Nothing moved; the proven commits are kept. "
            "A pull request can land them.",
            next_step=f"`asbuilt run {shared.slug} --pr`",
        )
    if isinstance(moved, BranchMoved):
        return TipMoved(ref=intent.ref, found=moved.found)
    shared.set_target(intent.new)
    return Landed(ref=intent.ref, new=intent.new, already=moved.already)
