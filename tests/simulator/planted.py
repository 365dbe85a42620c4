"""Bugs to be found. The one rule: each changes one place of the shipped code, mostly takes out a guard."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unittest.mock import patch

from msgspec.structs import replace

from asbuilt.events.runs import RunParked
from asbuilt.flows import segment
from asbuilt.flows.engine.fence import Fenced
from asbuilt.flows.landing import candidates, tidy
from asbuilt.flows.landing.commits import Outcomes
from asbuilt.flows.run.marks import marked
from asbuilt.flows.run.record import append_event
from asbuilt.journal import approvals, claims, runs
from asbuilt.journal.engine import segments
from asbuilt.lifecycle import kinds
from asbuilt.lifecycle.plan_run import lanes, next_move
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run import guards as rules
from asbuilt.lifecycle.run import moves, stoppages
from asbuilt.lifecycle.run.agent_stops import Breaker
from asbuilt.lifecycle.run.working_time import WorkTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from asbuilt.events.event import Entry
    from asbuilt.events.phases import PhaseJoined
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Segment
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts
    from asbuilt.lifecycle.run.facts import AttemptFacts, PhaseFacts, RunFacts


def _skip_the_claim_check() -> AbstractContextManager[object]:
    """Whoever asks for a plan is told that it is theirs."""
    acquire = claims.acquire

    def lax(*arguments: Any, **more: Any) -> claims.Acquired:  # noqa: ANN401 - as it is called
        return acquire(*arguments, **more)._replace(answer=claims.Answer.YOURS)

    return patch.object(claims, "acquire", lax)


def _mark_before_landing() -> AbstractContextManager[object]:
    """The plan says that it is done, and then it lands."""
    land = Outcomes.land

    def hasty(self: Outcomes, facts: DeliveryFacts) -> None:
        done = {work.phase: work.commit for work in facts.pending}
        self._document.splice(lambda data: marked(data, done))
        land(self, facts)

    return patch.object(Outcomes, "land", hasty)


def _lose_a_wake_up() -> AbstractContextManager[object]:
    """What a person says is written down, and the run that waits for it sleeps on."""
    return patch.object(runs, "wake", lambda *_: [])


def _lose_a_word() -> AbstractContextManager[object]:
    """What is said between a decision to wait and the waiting is not heard."""
    return patch.object(segment, "still_waits", lambda *_: True)


def _charge_for_waiting() -> AbstractContextManager[object]:
    """The hours of a run pass while it is parked."""
    record = WorkTime.fold

    def deaf(self: WorkTime, entry: Entry) -> None:
        if not isinstance(entry.event, RunParked):
            record(self, entry)

    return patch.object(WorkTime, "fold", deaf)


def _forget_the_claim() -> AbstractContextManager[object]:
    """A run that is over keeps its plan."""
    return patch.object(claims, "release", lambda *_, **__: claims.Answer.YOURS)


def _believe_the_agent() -> AbstractContextManager[object]:
    """What passes its checks is committed, and nobody judges it."""

    really = stoppages.verifier_move

    def credulous(facts: RunFacts, judged: AttemptFacts, phase: str | None, start: moves.Move) -> moves.Move:
        if isinstance(start, moves.Verify):
            return moves.Commit(start.phase, start.number)
        return really(facts, judged, phase, start)

    return patch.object(next_move, "verifier_move", credulous)


def _believe_an_old_proof() -> AbstractContextManager[object]:
    """A branch that has moved is landed on without another look."""
    return patch.object(candidates.Picks, "refusal", lambda *_: None)


def _write_without_a_fence() -> AbstractContextManager[object]:
    """A worker that was replaced goes on writing when it wakes."""
    return patch.object(Fenced, "is_open", lambda *_, **__: True)


def _tidy_up_around_the_living() -> AbstractContextManager[object]:
    """What a run has landed takes its workspace with it, whether it is over or not."""
    return patch.object(tidy, "_over", lambda _record, names: names)


def _change_an_answer() -> AbstractContextManager[object]:
    """The second answer to a question overrules the first."""
    answer = approvals.answer

    def twice(session: Any, org: str, repo: str, number: int, **more: Any) -> object:  # noqa: ANN401
        session.run("UPDATE approvals SET answer = NULL WHERE number = :number", number=number)
        return answer(session, org, repo, number, **more)

    return patch.object(approvals, "answer", twice)


def _stumble() -> AbstractContextManager[object]:
    """A landing breaks off by an error that is not one of ours."""

    def stumbles(_self: Outcomes, facts: DeliveryFacts) -> None:
        raise KeyError(facts.pending[0].phase)

    return patch.object(Outcomes, "land", stumbles)


def _spend_without_asking() -> AbstractContextManager[object]:
    """What a run may spend is looked at by nobody."""
    return patch.object(rules, "capped", lambda *_: None)


def _merge_over_the_others() -> AbstractContextManager[object]:
    """A ready phase is committed with the files of its lane, whatever was proven since."""

    def stale(facts: PlanFacts, name: str) -> moves.Move:
        return moves.Commit(name, facts.phases[name].attempts[-1].number)

    return patch.object(lanes, "_merge", stale)


def _commit_in_the_lane() -> AbstractContextManager[object]:
    """A lane advances the plan's branch itself."""

    def greedy(facts: PlanFacts, move: moves.Move) -> moves.Move:
        return move if isinstance(move, moves.Commit) else closing(facts, move)

    closing = lanes.closing
    return patch.object(kinds, "closing", greedy)


def _fork_too_early() -> AbstractContextManager[object]:
    """A phase does not wait for what it needs."""

    def early(self: PlanFacts) -> list[PhaseFacts]:
        return [
            one for one in self.phases.values() if one.id not in self._proven and one.id not in self.lanes
        ]

    return patch.object(PlanFacts, "_startable", property(early))


def _join_without_a_word() -> AbstractContextManager[object]:
    """A lane is closed, and the run that waits for it sleeps on."""

    def quiet(session: Session, run: runs.Run, event: PhaseJoined, n: int) -> None:
        append_event(session, run, event, f"{event.phase}/joined/{n}")

    return patch.object(segment, "_joined", quiet)


def _fork_twice() -> AbstractContextManager[object]:
    """A lane has two chains of segments."""
    fork = segments.fork

    def twice(session: Session, of: Segment, lane: str) -> None:
        fork(session, of, lane)
        fork(session, of, lane)

    return patch.object(segments, "fork", twice)


def _forget_a_ready_phase() -> AbstractContextManager[object]:
    """What is ready is merged by nobody."""

    def forgetful(facts: PlanFacts) -> moves.Move | None:
        return coordinate(replace(facts, ready=[]))

    coordinate = lanes.coordinate
    return patch.object(next_move, "coordinate", forgetful)


def _try_in_spite_of_a_breaker() -> AbstractContextManager[object]:
    """Whoever wants to start an agent starts it."""
    return patch.object(Breaker, "blocks", lambda *_: False)


class Bug(NamedTuple):
    """How a bug is planted, and how the law reads that it breaks."""

    plant: Callable[[], AbstractContextManager[object]]
    law: str


FOUND: Final = {
    "skip the claim check": Bug(_skip_the_claim_check, " is open and "),
    "mark before landing": Bug(_mark_before_landing, "done, and refs/heads/main does not have it"),
    "lose a wake-up": Bug(_lose_a_wake_up, "waits for a person, and there is nothing that anybody could say"),
    "lose a word": Bug(_lose_a_word, "waits for a person, and there is nothing that anybody could say"),
    "charge for waiting": Bug(_charge_for_waiting, "is said to have worked"),
    "forget the claim": Bug(_forget_the_claim, "is over and still owns"),
    "believe the agent": Bug(_believe_the_agent, "has landed and was not proven"),
    "believe an old proof": Bug(_believe_an_old_proof, "and no test has run on it"),
    "change an answer": Bug(_change_an_answer, " was answered "),
    "write without a fence": Bug(_write_without_a_fence, "writes after another execution of it has begun"),
    "spend without asking": Bug(_spend_without_asking, "has nothing left of what its run may spend"),
    "merge over the others": Bug(_merge_over_the_others, " undoes "),
    "commit in the lane": Bug(_commit_in_the_lane, "is committed by its own lane"),
    "fork too early": Bug(_fork_too_early, "which it needs"),
    "join without a word": Bug(
        _join_without_a_word, "waits for a person, and there is nothing that anybody could say"
    ),
    "fork twice": Bug(_fork_twice, "and has open segments of"),
    "forget a ready phase": Bug(_forget_a_ready_phase, "were ready and are not merged"),
    "try in spite of a breaker": Bug(_try_in_spite_of_a_breaker, "starts another agent while"),
    "stumble": Bug(_stumble, "by what nobody has foreseen: KeyError"),
}
AIMED: Final = {
    "tidy up around the living": Bug(_tidy_up_around_the_living, "is touched while an agent works in it"),
}
"""Too rare for chance: a test leads up to them."""


@contextmanager
def planted(name: str) -> Iterator[str]:
    """Plant a bug for a while; tell the law that it breaks."""
    bug = (FOUND | AIMED)[name]
    with bug.plant():
        yield bug.law
