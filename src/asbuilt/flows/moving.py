"""Move what is proven to its target. What is in the way is written down, and then nothing has moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from asbuilt.git import candidates, landing
from asbuilt.git.repository import tip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from asbuilt.git.repository import Repository

_TRIES: Final = 5
_REASON: Final = 500


class Say(Protocol):
    """Write an event of the run."""

    def __call__(self, kind: str, key: str, **data: object) -> None:
        """Write it once, under its key."""


class Mover:
    """The landing of one run on one branch."""

    def __init__(self, repository: Repository, *, run: str, branch: str, room: Path) -> None:
        self._repository = repository
        self._run = run
        self._branch = branch
        self._room = room

    def land(
        self,
        proven: Sequence[str],
        *,
        base: str,
        failures_at: Callable[[str], Sequence[str]],
        edit: Callable[[candidates.Candidate], candidates.Edit | None],
        say: Say,
    ) -> candidates.Candidate | None:
        """Put the commits onto the target's tip and move it; None when nothing moved.

        A tip that moved is built on and proven anew. `edit` gives what lands with them as the last commit.
        """
        for _ in range(_TRIES):
            onto = tip(self._repository, f"refs/heads/{self._branch}") or ""
            candidate = candidates.pick(self._repository, onto=onto, commits=proven, run=self._run)
            if isinstance(candidate, candidates.Conflict):
                say("landing.refused", "refused", reason=candidate.refused(self._branch).what[:_REASON])
                return None
            marks = edit(candidate)
            if marks is not None:
                candidate = candidates.add_files(self._repository, candidate, marks, run=self._run)
            candidates.hold(self._repository, self._run, candidate)
            failures = failures_at(candidate.tip) if onto != base else ()
            if failures:
                say("landing.refused", "refused", reason=f"on the new tip: {'; '.join(failures)}"[:_REASON])
                return None
            ready = landing.prepare(
                self._repository, run=self._run, branch=self._branch, old=onto, new=candidate.tip
            )
            if isinstance(ready, landing.Intent):
                say("landing.intended", f"intended/{candidate.tip[:12]}", new=candidate.tip, old=onto)
                ready = landing.land(self._repository, ready, self._room)
            if isinstance(ready, landing.Landed):
                say("landing.done", "landed", new=ready.new, branch=self._branch)
                return candidate
            if isinstance(ready, landing.Refused):
                say("landing.refused", "refused", reason=ready.what[:_REASON])
                return None
        say("landing.refused", "refused", reason=f"{self._branch} moved {_TRIES} times meanwhile")
        return None
