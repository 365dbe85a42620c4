"""Choose the next move of a run of a plan's phases. Pure and total: the order of the rules is the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.questions import BetweenKey, KeepKey, UnusableKey, WaiverKey
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.delivery.next_move import brought_to_safety, deliver, failures_for, promised
from asbuilt.lifecycle.limits import FIX_LIMIT, REPEAT_LIMIT
from asbuilt.lifecycle.plan_run.drift import correcting
from asbuilt.lifecycle.plan_run.lanes import coordinate, wait_for
from asbuilt.lifecycle.pull_request.repairs import repair_under_way
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import PASS, RESUMABLE, AttemptFacts, PhaseFacts
from asbuilt.lifecycle.run.guards import before_work, within_caps
from asbuilt.lifecycle.run.preflight import prepare
from asbuilt.lifecycle.run.questions import asked
from asbuilt.lifecycle.run.stoppages import stoppage, verifier_move
from asbuilt.plan.needs import open_needs

if TYPE_CHECKING:
    from asbuilt.lifecycle.plan_run.facts import PlanFacts

_SEVERAL: Final = 2


def next_move(facts: PlanFacts, now: str) -> moves.Move:
    """Choose the next move of a run of a plan's phases, or of one of its lanes."""
    if facts.at:
        first = before_work(facts, now, brought_to_safety(facts.current)) or prepare(facts)
        return first or within_caps(facts, _work_on(facts, facts.phases[facts.at]), now)
    first = before_work(facts, now, brought_to_safety(facts.current or repair_under_way(facts)))
    move = first or _idle(facts) or prepare(facts) or within_caps(facts, _work(facts, now), now)
    return wait_for(facts.open_lanes) if isinstance(move, moves.End) and facts.open_lanes else move


def _idle(facts: PlanFacts) -> moves.End | None:
    """Return why there is nothing to do, before anything is created."""
    if not (facts.works or facts.unlanded):
        if facts.wanted is not None and facts.wanted in facts.done_before:
            return moves.End("done", f"phase {facts.wanted} is already done")
        if facts.phases and facts.done_before >= facts.phases.keys():
            return moves.End("done", "the plan is already complete: every phase is done")
    # A phase that has started waits for no other.
    wanted = facts.phases.get(facts.wanted or "")
    if wanted is None or wanted.begun or not (waits := open_needs(wanted.needs, facts.done_before)):
        return None
    return moves.End("stopped", f"phase {facts.wanted} waits for phase {', '.join(waits)}: not done yet")


def _work(facts: PlanFacts, now: str) -> moves.Move:
    changed = promised(facts, is_attended=not facts.auto)
    if changed is not None:
        return changed
    is_direct = facts.way == "direct" and not facts.hold
    if is_direct and (facts.pending or not facts.marked):
        return deliver(facts, now)
    move = coordinate(facts)
    if isinstance(move, moves.Check):
        merged = facts.phases[move.phase]
        return _unusable(facts, merged, merged.attempts[-1]) or move
    phase = facts.current
    if move is not None or phase is None:
        return move or _after_last_phase(facts, now, is_direct=is_direct)
    return _between(facts, phase) or _work_on(facts, phase)


def _work_on(facts: PlanFacts, phase: PhaseFacts) -> moves.Move:
    asks = _too_large(facts, phase) or stoppage(facts, phase)
    asks = asks or correcting(facts, phase, may_fix=phase.fixes < FIX_LIMIT) or _waiver(facts, phase)
    return asks or _in_phase(facts, phase)


def _between(facts: PlanFacts, phase: PhaseFacts) -> moves.Move | None:
    if facts.auto or phase.begun or not any(other.proven for other in facts.phases.values()):
        return None
    key, question = BetweenKey(run=facts.run, phase=phase.id), f"continue with phase {phase.id}?"
    return asked(facts, key, "continue", question, phase.id, no=f"you said no to phase {phase.id}")


def _too_large(facts: PlanFacts, phase: PhaseFacts) -> moves.Move | None:
    """Ask the user about a tree that cannot be kept as it is; its workspace stays unchanged."""
    last = phase.attempts[-1] if phase.attempts else None
    if last is None or not last.refusals or last.commit is not None:
        return None
    key = KeepKey(run=facts.run, phase=phase.id, attempt=last.number, refusals=last.refusals)
    question = f"{last.refusal} Try again?"
    return asked(facts, key, "continue", question, phase.id, no=f"phase {phase.id}: {last.refusal}")


def _waiver(facts: PlanFacts, phase: PhaseFacts) -> moves.Move | None:
    """Ask the user to accept items that no fix could prove; None if that is not possible, or after a no.

    Only items of a verdict can be accepted: all checks pass, and the opinion is valid. An unattended run ends
    without the answer, and a later run uses it.
    """
    last = phase.attempts[-1] if phase.attempts else None
    if last is None or last.checks != PASS or last.verdict in (None, PASS) or not last.unproven:
        return None
    if phase.fixes < FIX_LIMIT:
        return None
    answers = {}
    for item in last.unproven:
        key = WaiverKey(intent=str(phase.intent), item=item).of(facts.run)
        if key not in facts.approvals:
            found = next((failure for failure in last.judged if failure.item == item), f"item {item}")
            return moves.Ask(
                key, "waiver", f"accept phase {phase.id} without this item? Give a reason. {found}", phase.id
            )
        answers[key] = facts.approvals[key]
    if "no" in answers.values():
        return None
    waits = [key for key, answer in answers.items() if answer is None]
    if waits:
        return None if facts.auto else moves.until_answered(waits[0])
    return moves.Commit(phase.id, last.number)


def _in_phase(facts: PlanFacts, phase: PhaseFacts) -> moves.Move:
    if not phase.begun:
        return moves.Begin(phase.id)
    if phase.delegate:
        return _delegated(facts, phase)
    if not phase.attempts:
        return moves.Attempt(phase.id, 1, "implement", phase.carried)
    last = phase.attempts[-1]
    if last.ending is None or last.ending in RESUMABLE:
        # Resume the same attempt, with its tree and its session.
        return moves.Attempt(phase.id, last.number, last.role, failures_for(phase))
    if last.commit is None:
        return moves.Keep(phase.id, last.number)
    if last.ending != "done":
        if phase.repeats > REPEAT_LIMIT:
            return moves.End(
                "failed", f"phase {phase.id}: {last.ending} {phase.repeats} times; last: {last.reason}"
            )
        return moves.Attempt(phase.id, last.number + 1, last.role, failures_for(phase))
    return _judge(facts, phase, last)


def _delegated(facts: PlanFacts, phase: PhaseFacts) -> moves.Move:
    """Run another plan for a phase, wait until that run ends, and prove the phase on the target."""
    where = f"phase {phase.id}, delegated to {phase.delegate}"
    if facts.pending:
        why = f"{where}, has to wait: earlier phases are not landed"
        return moves.End("failed", why, f"asbuilt land {facts.slug}")
    if not phase.delegated:
        return moves.Delegate(phase.id)
    if phase.returned is None:
        return moves.Wait(WaitReason.PLAN, f"the run of {phase.delegate}", None)
    if phase.returned not in ("landed", "done"):
        return moves.End("failed", f"{where}: {phase.returned}. {phase.returned_why}".rstrip())
    return moves.ProveDelegated(phase.id)


def _judge(facts: PlanFacts, phase: PhaseFacts, last: AttemptFacts) -> moves.Move:
    if last.checks is None:
        return _unusable(facts, phase, last) or moves.Check(phase.id, last.number)
    if last.checks != PASS or not last.changed:
        return _fix(phase, last)
    if last.verdict is None:
        return verifier_move(facts, last, phase.id, moves.Verify(phase.id, last.number))
    if last.verdict != PASS:
        return _fix(phase, last)
    if phase.driven and last.tested is None:
        return verifier_move(facts, last, phase.id, moves.Verify(phase.id, last.number, "test"))
    return moves.Commit(phase.id, last.number)


def _unusable(facts: PlanFacts, phase: PhaseFacts, last: AttemptFacts) -> moves.Move | None:
    """Ask before running inconclusive checks again. No agent can change that, so it counts as no fix."""
    if not last.unusable:
        return None
    why = f"the checks of phase {phase.id} were inconclusive: {'; '.join(last.failures)}"
    key = UnusableKey(run=facts.run, phase=phase.id, attempt=last.number, times=last.unusable)
    return asked(facts, key, "continue", f"{why}. Run them again?", phase.id, no=why)


def _fix(phase: PhaseFacts, last: AttemptFacts) -> moves.Move:
    if phase.fixes >= FIX_LIMIT:
        unproven = "; ".join(last.failures) or "not every item is proven"
        return moves.End("failed", f"phase {phase.id} is not proven after {phase.fixes} fixes: {unproven}")
    return moves.Attempt(phase.id, last.number + 1, "fix", last.failures)


def _after_last_phase(facts: PlanFacts, now: str, *, is_direct: bool) -> moves.Move:
    """Choose the next move once no phase is left to work on."""
    if not facts.works and not facts.unlanded:
        blocked = [phase.id for phase in facts.phases.values() if phase.id not in facts.done_before]
        return moves.End(
            "failed", f"no phase can start: {', '.join(blocked)} wait for phases that are not done"
        )
    if is_direct:
        return deliver(facts, now)
    if facts.together is None:
        return moves.ProveTogether()
    if facts.together != PASS:
        return _apart(facts, facts.apart)
    unjudged = _judged_together(facts)
    if unjudged is not None:
        return unjudged
    if not facts.reported:
        return moves.Report()
    if facts.hold:
        wanted = (
            f"; before it lands you have to sign off {len(facts.sign_offs)} of its changes"
            if facts.sign_offs
            else ""
        )
        return moves.End("held", f"proven; landing was not requested{wanted}")
    return deliver(facts, now)


def _judged_together(facts: PlanFacts) -> moves.Move | None:
    """Have phases judged together after the last one, whichever runs proved them; None once that is done."""
    whole = facts.whole
    is_last = facts.mode == "finish" or facts.is_complete
    if facts.reported or not is_last or len(facts.pending) < _SEVERAL or whole.verdict == PASS:
        return None
    if whole.verdict is None:
        return verifier_move(facts, whole, None, moves.VerifyTogether())
    return _apart(facts, tuple(map(str, whole.judged)))


def _apart(facts: PlanFacts, failures: tuple[str, ...]) -> moves.End:
    """End a run whose phases pass one by one but not together.

    A reopened phase starts from the proven commits.
    """
    reasons = f": {'; '.join(failures)}" if failures else ""
    phase, note = (facts.broken[0], "") if facts.broken else (facts.pending[-1].phase, ' -m "what to change"')
    several = "the phases pass one by one, but not together"
    alone = "the phase passes its own checks, but not all tests"
    return moves.End(
        "failed",
        f"{alone if len(facts.pending) == 1 else several}{reasons}",
        f"`asbuilt plan mark {facts.slug} {phase} pending &&` `asbuilt run {facts.slug}{note}`",
    )
