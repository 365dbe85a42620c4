"""Move proven commits to the target branch, or record why they could not be moved and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from asbuilt.errors import GitFailed, RepositoryBusy
from asbuilt.events.event import Event
from asbuilt.events.landings import (
    LandingDone,
    LandingIntended,
    LandingRecovered,
    LandingRefused,
    LandingUnsigned,
)
from asbuilt.flows.engine.transient import may_pass, transient_error
from asbuilt.git.landing import candidates
from asbuilt.git.landing import land as landing
from asbuilt.git.landing.checkout_update import Settled
from asbuilt.git.landing.land import land_on_remote
from asbuilt.git.repository import Repository, tip
from asbuilt.git.trees import is_here
from asbuilt.journal.events import shortened

if TYPE_CHECKING:
    from asbuilt.git.fleet import SharedRefs

_TRIES: Final = 5
_WHAT: Final = 500
_WHY: Final = 600
_NEXT: Final = 400
_PATHS: Final = 5
_Built = TypeVar("_Built")


class Refusal(NamedTuple):
    """Why nothing moved and what to do about it, the next command, and an alternative."""

    what: str
    why: str
    next_step: str
    other: str = ""
    evidence: str | None = None
    """Digest of the evidence of the checks that refused it."""


class Changeset(Protocol):
    """Changes to land: built, proven and recorded again for every tip of the target."""

    def build(self, onto: str, *, sign: bool) -> candidates.Candidate | Refusal:
        """Put them onto a tip, with the plan's marks."""

    def refusal(self, candidate: candidates.Candidate) -> Refusal | None:
        """Prove them on the target; None if they may land."""

    def details(self, candidate: candidates.Candidate) -> str:
        """Keep the map of commits to phases as a blob; returns its digest."""


def _raise_what_passes(refused: landing.Refused) -> None:
    """Raise transient errors, such as a lock or a full disk: they are retried, not refused."""
    if refused.kind == "locked":
        raise RepositoryBusy(refused.what, why=refused.why, next_step=refused.next_step)
    if refused.kind == "git" and may_pass(refused.why):
        raise GitFailed(
            refused.what,
            why=refused.why,
            next_step="`asbuilt doctor` checks git and the disk; asbuilt retries automatically.",
        )


def _refusal(refused: landing.Refused, again: str) -> Refusal:
    """Return a refusal with the command to type next, which works as the checkout is now."""
    if refused.kind == "protected":
        return Refusal(refused.what, refused.why, refused.next_step)
    advice, way = f"{refused.why} {refused.next_step}", refused.remedy
    if way is None:
        return Refusal(refused.what, advice, again)
    if way.clears:
        return Refusal(refused.what, advice, f"`{way.command} &&` `{again}` `# {way.comment}`")
    return Refusal(refused.what, advice, f"`{way.command}` `# {way.comment}`", f"then: `{again}`")


def built(build: Callable[[bool], _Built], *, sign: bool, append: Callable[[Event, str], None]) -> _Built:
    """Build something, signed if wanted and possible; a signing key that is locked never stops a landing."""
    if sign:
        try:
            return build(True)
        except GitFailed as error:
            if transient_error(error) is not None:
                raise
            append(LandingUnsigned(why=shortened(error.why, _WHY)), "unsigned")
    return build(False)


@dataclass(frozen=True, kw_only=True)
class Mover:
    """The landing of one run on one branch."""

    repository: Repository
    run: str
    branch: str
    room: Path
    append: Callable[[Event, str], None]
    """Writes an event of the run under its key."""
    hold: Callable[[], None]
    """Raises unless the run is still this worker's."""
    reverts: bool = False
    shared: SharedRefs | None = None
    """If set, the branch is the remote's, and the repository a mirror of it."""

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.branch}"

    def land(self, changeset: Changeset, *, cut_off: LandingIntended | None, sign: bool, again: str) -> None:
        """Put changes onto the target's tip and move the branch, or record why not.

        `cut_off` is an intent of this run whose process may have died: its outcome is found first. If the tip
        moved, all is built and proven again. `again` is the command to continue with after a refusal.
        """
        self.hold()
        if cut_off is not None and self._has_landed(cut_off):
            return
        outcome = self._landed(changeset, sign=sign)
        if isinstance(outcome, landing.Refused):
            _raise_what_passes(outcome)
            outcome = _refusal(outcome, again)
        if outcome is not None:
            self.append(
                LandingRefused(
                    what=shortened(outcome.what, _WHAT),
                    why=shortened(outcome.why, _WHY),
                    next=shortened(outcome.next_step, _NEXT),
                    other=shortened(outcome.other, _NEXT),
                    evidence=outcome.evidence,
                    reverts=self.reverts,
                ),
                "refused",
            )

    def _has_landed(self, cut_off: LandingIntended) -> bool:
        """Find how an earlier landing ended, and restore its checkout."""
        intent = landing.Intent(
            run=self.run, ref=self._ref, old=cut_off.old, new=cut_off.new, checkout=cut_off.checkout
        )
        if self.shared is not None:
            self.shared.fetch_target()
        if self.shared is None or is_here(self.repository, intent.new):
            found = landing.recover(self.repository, intent)
        else:
            # A lost worker built it, and the remote does not have it.
            found = landing.NotMoved(settled=Settled())
        settled = found.settled if isinstance(found, landing.NotMoved) else None
        self.append(
            LandingRecovered(
                found=type(found).__name__,
                restored=len(settled.restored) if settled else 0,
                left=tuple(shortened(path, 200) for path in settled.left[:_PATHS]) if settled else (),
            ),
            f"recovered/{intent.new[:12]}",
        )
        if not isinstance(found, landing.Landed):
            return False
        self._done(intent.new, cut_off.details)
        return True

    def _landed(self, changeset: Changeset, *, sign: bool) -> Refusal | landing.Refused | None:
        """Build, prove and move, again for each new tip (5 tries); None if it has landed."""
        for _ in range(_TRIES):
            with landing.turn(self.repository):
                outcome = self._moved(changeset, sign=sign)
            if not isinstance(outcome, landing.TipMoved):
                return outcome
        return landing.moved_too_often(self._ref, _TRIES)

    def _moved(
        self, changeset: Changeset, *, sign: bool
    ) -> Refusal | landing.Refused | landing.TipMoved | None:
        onto = self.shared.fetch_target() if self.shared else tip(self.repository, self._ref)
        if onto is None:
            return landing.no_target(self._ref)
        candidate = built(lambda signs: changeset.build(onto, sign=signs), sign=sign, append=self.append)
        if isinstance(candidate, Refusal):
            return candidate
        candidates.hold(self.repository, self.run, candidate)
        refusal = changeset.refusal(candidate)
        if refusal is not None:
            return refusal
        details = changeset.details(candidate)
        ready = landing.prepare(
            self.repository, run=self.run, branch=self.branch, old=onto, new=candidate.tip
        )
        if isinstance(ready, landing.Intent):
            self.append(
                LandingIntended(new=candidate.tip, old=onto, checkout=ready.checkout, details=details),
                f"intended/{candidate.tip[:12]}",
            )
            if self.shared is not None:
                ready = land_on_remote(self.shared, ready, hold=self.hold)
            else:
                ready = landing.land(self.repository, ready, self.room, hold=self.hold)
        if isinstance(ready, landing.Landed):
            moved, by_hand = (
                candidate.tip != candidate.onto,
                bool(candidate.present and not candidate.commits),
            )
            self._done(candidate.since or ready.new, details, moved=moved, by_hand=by_hand)
            return None
        return ready

    def _done(self, new: str, details: str, *, moved: bool = True, by_hand: bool = False) -> None:
        reverts, branch = self.reverts, self.branch
        event = LandingDone(
            new=new, branch=branch, details=details, reverts=reverts, moved=moved, by_hand=by_hand
        )
        self.append(event, f"landed/{new[:12]}")
