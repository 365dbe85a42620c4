"""Land commits on a branch. Rule: a landing happens once and completely, or not at all.

All cases use one mechanism: a push into the same repository with a lease on the old tip. The push swaps the
ref and updates its checkout, if there is one; changes of the user are never overwritten. The caller journals
the `Intent` before it calls `land`.
"""

from __future__ import annotations

import os
import shlex
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from asbuilt.errors import GitFailed, NotLanded, RepositoryBusy
from asbuilt.git.command import check_branch, check_oid
from asbuilt.git.landing.checkout import Settled, is_locked, settle, write_hook
from asbuilt.git.landing.overwrites import between, filtered, in_the_way, lines_at_stake, overlapping
from asbuilt.git.locks import guarded, heal, lock_of, recorded
from asbuilt.git.repository import checkouts, checkouts_of, operations, tip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from asbuilt.git.repository import Checkout, Repository

Kind = Literal[
    "in_the_way", "your_changes", "operation", "checked_out_twice", "no_target", "restless", "locked", "git",
    "programs",
]  # fmt: skip
_PATIENCE_S: Final = 10.0
_TURN_S: Final = 60.0
"""Another landing can be stopped, or run tests for an hour, while it has the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A planned move of a branch, as plain text, so that it can be journalled first."""

    run: str
    ref: str
    old: str
    new: str
    checkout: str | None
    """The checkout that is updated, or None if the branch is not checked out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """The branch contains the commits."""

    ref: str
    new: str
    already: bool = False
    """It contained them before this call: an earlier try succeeded."""
    checkout: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TipMoved:
    """The branch has moved and nothing landed; rebuild and prove the candidate on the new tip."""

    ref: str
    expected: str
    found: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMoved:
    """An interrupted landing did not happen; its checkout is restored, and it can be tried again."""

    settled: Settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Nothing moved; the landing needs user action."""

    kind: Kind
    paths: tuple[str, ...]
    what: str
    why: str
    next_step: str

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
    if _contains(repository, found, check_oid(new)):
        return Landed(ref=ref, new=new, already=True)
    if found != old:
        return TipMoved(ref=ref, expected=old, found=found)
    if not _contains(repository, new, old):
        raise GitFailed(
            f"candidate {new[:12]} is not built on {old[:12]}",
            why="A landing only ever adds to a branch.",
            next_step="This is a mistake of ours; `asbuilt bug-report` packs what a report needs.",
        )
    held = checkouts_of(repository, ref)
    if len(held) > 1:
        return _twice(ref, held)
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
                    said = _push(repository, ready, held, hooks, descriptor)
                outcome = _judged(repository, ready, held, said)
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
        if found is not None and _contains(repository, found, intent.new):
            return Landed(ref=intent.ref, new=intent.new, already=True, checkout=intent.checkout)
        if found != intent.old:
            return TipMoved(ref=intent.ref, expected=intent.old, found=found)
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
    said = git.said(
        "push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
        f"--force-with-lease={intent.ref}:{intent.old}", f"--receive-pack={receive}", "--",
        ".", f"{intent.new}:{intent.ref}", allowed=(0, 1, 128),
    )  # fmt: skip
    return f"{said.err}\n{said.line}".strip()


def _judged(
    repository: Repository, intent: Intent, held: Checkout | None, said: str
) -> Landed | TipMoved | Refused | None:
    """Determine the result from the ref; None means that another try is worthwhile."""
    found = tip(repository, intent.ref)
    if held is not None:
        settle(repository, held)
    if found is not None and _contains(repository, found, intent.new):
        return Landed(ref=intent.ref, new=intent.new, checkout=str(held.path) if held else None)
    if found != intent.old:
        return TipMoved(ref=intent.ref, expected=intent.old, found=found)
    if "asbuilt: " in said:
        return None
    again = _look(repository, held, intent.ref, intent.old, intent.new) if held else None
    return again or Refused(
        kind="git",
        paths=(),
        what=f"Not landed: git did not move {_short(intent.ref)}.",
        why=f"git said: {said[:2000]}",
        next_step="Mend what git says, then land again; nothing moved.",
    )


def _settle_all(repository: Repository) -> Settled:
    heal(repository)
    found = [settle(repository, one) for one in checkouts(repository)]
    return Settled(
        restored=tuple(path for one in found for path in one.restored),
        left=tuple(path for one in found for path in one.left),
    )


def _left_by(operation: str) -> str:
    return "git bisect reset" if operation == "bisect" else f"git {operation} --abort"


def _look(repository: Repository, checkout: Checkout, ref: str, old: str, new: str) -> Refused | None:
    busy = operations(checkout.git_dir)
    if busy:
        return Refused(
            kind="operation",
            paths=(),
            what=f"Not landed: {checkout.path} is in the middle of a {busy[0]}.",
            why=f"{_short(ref)} is checked out there. Nothing moved.",
            next_step=f"Finish it, or {_left_by(busy[0])}, then land again.",
        )
    paths = between(repository, old, new)
    if drivers := filtered(checkout, paths, repository.programs.drivers):
        return _not_agreed(ref, drivers, repository.programs.digest)
    blocking = in_the_way(checkout, paths)
    if blocking:
        return _in_the_way(checkout, ref, blocking)
    overlap = overlapping(checkout, paths, old)
    return _your_changes(checkout, ref, overlap, old) if overlap else None


def _not_agreed(ref: str, drivers: tuple[str, ...], digest: str) -> Refused:
    return Refused(
        kind="programs",
        paths=(),
        what=f"Not landed: files that this plan changes go through {_named(drivers)}, to which you have not"
        " agreed.",
        why="The repository's own git settings name the program. Without it the files in your checkout would"
        f" not be what git makes of them. Nothing moved: {_short(ref)} and your files are as they were.",
        next_step=f"Look at it with git config --get-regexp ^filter; if it is yours:"
        f" asbuilt config set landing.programs +{digest}, then land again.",
    )


def _in_the_way(checkout: Checkout, ref: str, paths: tuple[str, ...]) -> Refused:
    return Refused(
        kind="in_the_way",
        paths=paths,
        what=f"Not landed: {_named(paths)} {_is(paths)} in the way, and this plan adds it.",
        why=f"{_short(ref)} is checked out in {checkout.path}, and what you have there would be overwritten. "
        f"Nothing moved: {_short(ref)} and your files are as they were.",
        next_step=f"Move {'it' if len(paths) == 1 else 'them'} elsewhere, then land again.",
    )


def _your_changes(checkout: Checkout, ref: str, paths: tuple[str, ...], old: str) -> Refused:
    lines = sum(lines_at_stake(checkout, path, old) for path in paths)
    lost = f"{lines} of your lines" if lines else "your changes"
    return Refused(
        kind="your_changes",
        paths=paths,
        what=f"Not landed: {_named(paths)} {'has' if len(paths) == 1 else 'have'} changes of yours, "
        f"and this plan changes {'it' if len(paths) == 1 else 'them'} too.",
        why=f"{_short(ref)} is checked out in {checkout.path}; {lost} would be lost. "
        f"Nothing moved: {_short(ref)} and your files are as they were.",
        next_step="Commit or stash them, then land again.",
    )


def no_target(ref: str) -> Refused:
    """Return the refusal for a target branch that does not exist."""
    return Refused(
        kind="no_target",
        paths=(),
        what=f"Not landed: there is no branch {_short(ref)}.",
        why="A landing adds to a branch that exists. Nothing moved.",
        next_step=f"Make it (git branch {_short(ref)}) or name another target, then land again.",
    )


def moved_too_often(ref: str, times: int) -> Refused:
    """Return the refusal for a target that moved `times` times during the proof."""
    return Refused(
        kind="restless",
        paths=(),
        what=f"Not landed: {_short(ref)} moved {times} times while this was being proven.",
        why="What lands is proven on the very tip that it lands on. Nothing moved.",
        next_step=f"Wait until {_short(ref)} rests, then land again.",
    )


def _twice(ref: str, held: tuple[Checkout, ...]) -> Refused:
    return Refused(
        kind="checked_out_twice",
        paths=(),
        what=f"Not landed: {_short(ref)} is checked out in {len(held)} folders.",
        why=f"Only one could be carried along: {', '.join(str(one.path) for one in held)}. Nothing moved.",
        next_step="Switch all but one to another branch, then land again.",
    )


def _locked(ref: str, held: Checkout | None) -> Refused:
    where = f"{held.git_dir / 'index.lock'}" if held else "the checkout"
    return Refused(
        kind="locked",
        paths=(),
        what=f"Not landed: another git is at work in {held.path if held else 'the checkout'}.",
        why=f"{where} was there for {_PATIENCE_S:g} seconds, and {_short(ref)} is checked out there. "
        "Nothing moved.",
        next_step="Wait for that git to end, or remove the lock if none runs; it is tried again by itself.",
    )


def _contains(repository: Repository, history: str, commit: str) -> bool:
    return repository.git.said("merge-base", "--is-ancestor", commit, history, allowed=(0, 1)).code == 0


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _named(paths: tuple[str, ...]) -> str:
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")


def _is(paths: tuple[str, ...]) -> str:
    return "is" if len(paths) == 1 else "are"
