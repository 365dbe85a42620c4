"""Bugs to be found: each takes one guard out of the shipped code. The one rule: a simulator that misses one is blind.

Those that are safe to lose, because another guard holds, stand in `HARMLESS`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from asbuilt.flows import loads, run
from asbuilt.flows.marking import marked
from asbuilt.flows.moving import Mover
from asbuilt.flows.outcomes import Outcomes
from asbuilt.journal import approvals, claims, runs, segments
from asbuilt.lifecycle import phases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from asbuilt.lifecycle.facts import AttemptFacts, PhaseFacts, RunFacts


def _skip_the_claim_check() -> AbstractContextManager[object]:
    """Whoever asks for a plan is told that it is theirs."""
    acquire = claims.acquire

    def lax(*arguments: Any, **more: Any) -> claims.Acquired:  # noqa: ANN401 - as it is called
        return acquire(*arguments, **more)._replace(answer=claims.Answer.YOURS)

    return patch.object(claims, "acquire", lax)


def _mark_before_landing() -> AbstractContextManager[object]:
    """The plan says that it is done, and then it lands."""
    land = Outcomes.land

    def hasty(self: Outcomes, facts: RunFacts) -> None:
        done = {work.phase: work.commit for work in facts.pending}
        self._document.splice(lambda data: marked(data, done))
        land(self, facts)

    return patch.object(Outcomes, "land", hasty)


def _lose_a_wake_up() -> AbstractContextManager[object]:
    """What a person says is written down, and the run that waits for it sleeps on."""
    return patch.object(runs, "wake", lambda *_: [])


def _lose_a_word() -> AbstractContextManager[object]:
    """What is said between a decision to wait and the waiting is not heard."""
    return patch.object(run, "_still_waits", lambda *_: True)


def _forget_the_claim() -> AbstractContextManager[object]:
    """A run that is over keeps its plan."""
    return patch.object(claims, "release", lambda *_, **__: claims.Answer.YOURS)


def _believe_the_agent() -> AbstractContextManager[object]:
    """What passes its checks is committed, and nobody judges it."""

    def credulous(phase: PhaseFacts, last: AttemptFacts, _now: str) -> phases.Move:
        return phases.Commit(phase.id, last.number)

    return patch.object(phases, "_verify", credulous)


def _believe_an_old_proof() -> AbstractContextManager[object]:
    """A branch that has moved is landed on without another look."""
    return patch.object(loads.Picks, "refusal", lambda *_: None)


def _perform_what_is_done() -> AbstractContextManager[object]:
    """A step that is repeated acts again, on its own outcome."""
    return patch.object(run, "_comes_next", lambda *_: True)


def _write_without_a_fence() -> AbstractContextManager[object]:
    """A worker that was replaced goes on writing when it wakes."""
    return patch.object(segments, "is_open", lambda *_, **__: True)


def _change_an_answer() -> AbstractContextManager[object]:
    """The second answer to a question overrules the first."""
    answer = approvals.answer

    def twice(session: Any, org: str, repo: str, number: int, **more: Any) -> object:  # noqa: ANN401
        session.run("UPDATE approvals SET answer = NULL WHERE number = :number", number=number)
        return answer(session, org, repo, number, **more)

    return patch.object(approvals, "answer", twice)


def _land_without_looking_back() -> AbstractContextManager[object]:
    """A landing that was cut off is not looked for before it is tried again."""
    return patch.object(Mover, "_has_landed", lambda *_: False)


FOUND: Final[dict[str, Callable[[], AbstractContextManager[object]]]] = {
    "skip the claim check": _skip_the_claim_check,
    "mark before landing": _mark_before_landing,
    "lose a wake-up": _lose_a_wake_up,
    "lose a word": _lose_a_word,
    "forget the claim": _forget_the_claim,
    "believe the agent": _believe_the_agent,
    "believe an old proof": _believe_an_old_proof,
    "perform what is done": _perform_what_is_done,
    "change an answer": _change_an_answer,
    "write without a fence": _write_without_a_fence,
}
HARMLESS: Final[dict[str, Callable[[], AbstractContextManager[object]]]] = {
    # The trailers of what has landed are found when it is built anew.
    "land without looking back": _land_without_looking_back,
}


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Take a guard out for a while."""
    with (FOUND | HARMLESS)[name]():
        yield
