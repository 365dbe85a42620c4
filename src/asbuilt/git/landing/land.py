"""Land commits on a branch. The one rule: it happens once and whole, or not at all; nobody's work is touched.

One mover serves every case: a push into the same repository with a lease on the old tip. It swaps the named
ref and carries its checkout along, wherever that is. Whoever calls journals the `Intent` before `land`.
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
from asbuilt.git.landing.preflight import between, filtered, in_the_way, lines_at_stake, overlapping
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
"""Whoever has the turn may be stopped, or run the tests for an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What is about to be moved; plain text, so that it can be journalled first."""

    run: str
    ref: str
    old: str
    new: str
    checkout: str | None
    """The checkout that is carried along, or None when the branch is checked out nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """The branch has the commits."""

    ref: str
    new: str
    already: bool = False
    """It had them before we moved anything: an earlier try of ours got through."""
    checkout: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TipMoved:
    """Somebody was quicker: nothing was landed; build and prove the candidate anew on what is there."""

    ref: str
    expected: str
    found: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMoved:
    """A landing that was cut off did not happen; its checkout is as before, and it can be tried again."""

    settled: Settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Nothing moved, and nothing will until a person acts."""

    kind: Kind
    paths: tuple[str, ...]
    what: str
    why: str
    next_step: str

    def error(self) -> NotLanded:
        """Say it to a person."""
        return NotLanded(self.what, why=self.why, next_step=self.next_step)


@contextmanager
def turn(repository: Repository, *, patience_s: float = _TURN_S) -> Iterator[None]:
    """Wait for the turn to build, prove and land something, and keep it meanwhile.

    It keeps order and nothing else: where two prove at once, one has proven in vain, and of many the slow
    never land. What makes a landing whole is the swap; so whoever has waited long enough goes without a turn.
    """
    with ExitStack() as held:
        with suppress(RepositoryBusy):
            held.enter_context(guarded(repository.common / "refs", patience_s=patience_s))
        yield


def prepare(
    repository: Repository, *, run: str, branch: str, old: str, new: str
) -> Intent | Landed | TipMoved | Refused:
    """Look whether a candidate can land, touching nothing."""
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
    """Move the branch. `room` is a folder of ours for the hook; call it again after any crash.

    `hold` is asked right before the branch moves, after all waiting; what it raises keeps it where it is.
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
                # A program that git started may have been killed; what stands in its way fails again.
                is_chance = is_first and isinstance(outcome, Refused) and outcome.kind == "git"
                if outcome is not None and not is_chance:
                    return outcome
                is_first = False
            if time.monotonic() > until:
                return _locked(ready.ref, held)
            time.sleep(0.1)


def recover(repository: Repository, intent: Intent) -> Landed | TipMoved | NotMoved:
    """Find out how a landing ended whose mover died, and put its checkout right, path by path."""
    with guarded(repository.common):
        settled = _settle_all(repository)
        found = tip(repository, intent.ref)
        if found is not None and _contains(repository, found, intent.new):
            return Landed(ref=intent.ref, new=intent.new, already=True, checkout=intent.checkout)
        if found != intent.old:
            return TipMoved(ref=intent.ref, expected=intent.old, found=found)
        return NotMoved(settled=settled)


def _push(repository: Repository, intent: Intent, held: Checkout | None, hooks: Path, descriptor: int) -> str:
    """Let git move the ref and its checkout; returns what it said. What has happened is read from the ref."""
    # Every ref that is told of costs: of what attempts have kept, nothing is on its way to a target.
    # A push forgets how many settings its variables hold before it starts the other side.
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
        # Whatever the mover starts holds the repository on, so that recovery waits for its end.
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
    """Read from the ref what has happened; None means that it is worth another try."""
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
    """Say that there is no branch to land on."""
    return Refused(
        kind="no_target",
        paths=(),
        what=f"Not landed: there is no branch {_short(ref)}.",
        why="A landing adds to a branch that exists. Nothing moved.",
        next_step=f"Make it (git branch {_short(ref)}) or name another target, then land again.",
    )


def moved_too_often(ref: str, times: int) -> Refused:
    """Say that somebody was quicker again and again."""
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
