"""Choose the next move of a run. Pure and total: the order of the rules is the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.questions import BetweenKey, KeepKey, UnusableKey, WaiverKey
from asbuilt.events.runs import WaitReason, with_advice
from asbuilt.lifecycle.authoring.decide import drafting, stopped
from asbuilt.lifecycle.plan_run.corrections import correcting
from asbuilt.lifecycle.pull_request.decide import pulling, repair_under_way
from asbuilt.lifecycle.run.facts import GOES_ON, PASS
from asbuilt.lifecycle.run.moves import (  # fmt: skip
    Ask,
    Attempt,
    Baseline,
    Begin,
    Check,
    Commit,
    Compare,
    End,
    Keep,
    Land,
    MakeWorkspace,
    Mark,
    Move,
    ProveTogether,
    Recheck,
    Report,
    ResolveTests,
    SetUp,
    Start,
    Tidy,
    Verify,
    VerifyTogether,
    Wait,
    until_answered,
)
from asbuilt.lifecycle.run.preparation import asked, preparation
from asbuilt.lifecycle.run.sign_off import signing
from asbuilt.lifecycle.run.stoppages import capped, stoppage, verifier_stoppage
from asbuilt.lifecycle.run.windows import within
from asbuilt.lifecycle.tasks.decide import tasking
from asbuilt.lifecycle.verification.decide import to_check, verification

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.facts import AttemptFacts, PhaseFacts, RunFacts

__all__ = [
    "LANDING", "Ask", "Attempt", "Baseline", "Begin", "Check", "Commit", "Compare", "End", "Keep", "Land",
    "MakeWorkspace", "Mark", "Move", "ProveTogether", "Recheck", "Report", "ResolveTests", "SetUp", "Start",
    "Tidy", "Verify", "VerifyTogether", "Wait", "current", "last_kept", "may_stop", "next_move",
]  # fmt: skip
FIX_LIMIT: Final = 2
TROUBLE_LIMIT: Final = 10
"""A run that could not go on this often in a row, over some six hours, is given up."""
REPEAT_LIMIT: Final = 2
"""Attempts that end without a tree to judge (a stall, a crash, a time-out) are made anew this often."""
_SEVERAL: Final = 2
LANDING: Final = "landing"
"""The last point at which a plan is compared: everything is proven and told."""


def next_move(facts: RunFacts, now: str) -> Move:
    """Choose what a run does next. A paused run waits before the next move that can wait."""
    move = within(facts.window, _unpaused(facts, now), now)
    pauses = facts.pause is not None and facts.stop is None
    return Wait(WaitReason.PAUSE, "paused", None) if pauses and _can_wait(facts, move) else move


def _can_wait(facts: RunFacts, move: Move) -> bool:
    """Tell whether a move leaves nothing half done when it is made another day."""
    match move:
        case Attempt(phase=phase, number=number):
            begun = (one for one in facts.part(phase).attempts if one.number == number)
            return all(one.ending is not None for one in begun)
        case Land():
            return facts.landing != "intended"
        case Keep() | Mark() | Tidy() | End():
            return False
        case _:
            return True


def _unpaused(facts: RunFacts, now: str) -> Move:
    """Choose what a run does next. First match wins."""
    if facts.ended is not None:
        return End(facts.ended, "")
    if facts.kind == "author":
        return stopped(facts) or _kept_back(facts, now) or drafting(facts, now)
    if facts.kind == "task":
        return _kept_back(facts, now) or tasking(facts, now)
    # A landing that is cut off would leave the target and the plan apart.
    if facts.stop is not None and may_stop(facts):
        unsafe = _brought_to_safety(facts)
        return (_kept_back(facts, now) or unsafe) if unsafe else End("stopped", facts.stop)
    kept_back = _kept_back(facts, now)
    if kept_back is not None:
        return kept_back
    if not facts.started:
        return _refusal(facts) or Start()
    ready = _nothing_to_do(facts) or preparation(facts)
    move = _work(facts, now) if ready is None else ready
    if isinstance(move, Attempt | Verify | VerifyTogether) and _can_wait(facts, move):
        return capped(facts, now) or move
    return move


def may_stop(facts: RunFacts) -> bool:
    """Tell whether a run may end before its next move: a landing that was begun comes to its end first."""
    return facts.landing != "intended" and facts.marked


def _kept_back(facts: RunFacts, now: str) -> Move | None:
    """Let trouble pass, or give up; None when nothing keeps the run from going on."""
    if facts.troubles > TROUBLE_LIMIT:
        why = f"kept from going on {facts.troubles} times; last: {facts.trouble}"
        return End("failed", why, facts.trouble_next)
    if facts.retry_at is not None and facts.retry_at > now:
        why = f"trouble: {with_advice(facts.trouble, facts.trouble_next)}"
        return Wait(WaitReason.TROUBLE, why, facts.retry_at)
    return None


def _brought_to_safety(facts: RunFacts) -> Attempt | Keep | None:
    """End the agent under way and keep its files, before a run that was stopped ends."""
    phase = (current(facts) if facts.kind == "run" else None) or repair_under_way(facts)
    last = phase.attempts[-1] if phase is not None and phase.attempts else None
    if phase is None or last is None or last.refusals or last.is_lost:
        return None
    if last.ending is None:
        return Attempt(phase.id, last.number, last.role, _failures(phase))
    return Keep(phase.id, last.number) if last.commit is None else None


def _refusal(facts: RunFacts) -> End | None:
    """Refuse what this version cannot do, before anything is touched."""
    if facts.way == "direct" and facts.protected:
        return End("failed", "direct lands on a branch that is protected.", "use cherry-pick and hold, or pr")
    return None


def _nothing_to_do(facts: RunFacts) -> End | None:
    """End a run that finds everything done, before it makes anything."""
    if facts.kind == "verify":
        return None if to_check(facts) else End("done", "nothing to verify: no phase is done")
    if facts.kind == "undo":
        if facts.way == "pr" and facts.undoes:
            return End("failed", "what a pull request has brought is taken back by another one, at the forge")
        if facts.undoes or facts.drops:
            return None
        return End("done", f"nothing to undo: nothing that run {facts.of} has proven stands")
    if facts.works or facts.unlanded:
        return None
    if facts.kind == "land":
        return End("done", "nothing to land: everything that is proven is on the target")
    if facts.wanted is not None and facts.wanted in facts.done_before:
        return End("done", f"phase {facts.wanted} is done already")
    if facts.phases and facts.done_before >= facts.phases.keys():
        return End("done", "the plan is complete already: every phase is done")
    return None


def _work(facts: RunFacts, now: str) -> Move:
    if facts.kind == "verify":
        return verification(facts)
    changed = _promised(facts) if facts.kind != "undo" else None
    if changed is not None:
        return changed
    is_direct = facts.way == "direct" and not facts.hold
    if facts.kind != "run" or (is_direct and (facts.pending or not facts.marked)):
        return _delivery(facts, now)
    phase = current(facts)
    if phase is not None:
        asks = _between(facts, phase) or _too_large(facts, phase) or stoppage(facts, phase, now)
        asks = asks or correcting(facts, phase, may_fix=phase.fixes < FIX_LIMIT) or _waiver(facts, phase)
        return asks or _in_phase(facts, phase, now)
    return _after_phases(facts, now, is_direct=is_direct)


def current(facts: RunFacts) -> PhaseFacts | None:
    """Return the phase that this run works on now, or None when there is none left for it."""
    if facts.kind == "author":
        return facts.phases.get(facts.draft.due)
    if facts.kind == "task":
        return next(iter(facts.phases.values()), None)
    proven = {phase.id for phase in facts.phases.values() if phase.proven} | facts.done_before
    if facts.wanted is not None:
        wanted = facts.phases.get(facts.wanted)
        return wanted if wanted is not None and wanted.id not in proven else None
    if facts.mode == "phase" and any(phase.proven for phase in facts.phases.values()):
        return None
    left = [phase for phase in facts.phases.values() if phase.id not in proven]
    begun = (phase for phase in facts.phases.values() if phase.begun and not phase.proven)
    ready = (phase for phase in left if all(need in proven for need in phase.needs))
    return next(begun, None) or next(ready, None)


def last_kept(facts: RunFacts) -> str | None:
    """Return the commit that keeps the files of the last try at the phase under way; None: there was none."""
    phase = current(facts)
    return next((one.commit for one in reversed(phase.attempts) if one.commit), None) if phase else None


def _promised(facts: RunFacts) -> Move | None:
    """See at each phase's end and before each landing that what is proven is still what the plan wants.

    The frozen text is what was built and judged. If the plan says something else by now, a person decides;
    where nobody does, nothing lands against a promise that has changed.
    """
    if not facts.pending or facts.landing == "intended":
        return None
    point = LANDING if facts.reported else str(len(facts.works))
    if facts.compared != point:
        return Compare(point)
    for phase, difference in sorted(facts.differs.items()):
        what = f"the text of phase {phase} was changed in the plan after it was frozen"
        # Whoever asks for a landing is there to answer.
        if facts.auto and facts.kind == "run":
            return End("failed", f"{what}: it was not landed, the plan's branch keeps what is proven")
        ask = Ask(difference.key.of(facts.run), "continue", f"{what}; go on with what was built?", phase)
        answer = asked(facts, ask, no=f"you said no: {what}")
        if answer is not None:
            return answer
    return None


def _between(facts: RunFacts, phase: PhaseFacts) -> Move | None:
    """Ask between two phases of a finish that somebody watches."""
    if facts.auto or phase.begun or not any(other.proven for other in facts.phases.values()):
        return None
    ask = Ask(
        str(BetweenKey(run=facts.run, phase=phase.id)), "continue", f"go on with phase {phase.id}?", phase.id
    )
    return asked(facts, ask, no=f"you said no to phase {phase.id}")


def _too_large(facts: RunFacts, phase: PhaseFacts) -> Move | None:
    """Ask a person to make room for a tree that cannot be kept as it is; its workspace stays as it is."""
    last = phase.attempts[-1] if phase.attempts else None
    if last is None or not last.refusals or last.commit is not None:
        return None
    key = KeepKey(run=facts.run, phase=phase.id, attempt=last.number, refusals=last.refusals)
    ask = Ask(str(key), "continue", f"{last.refusal} Try again?", phase.id)
    return asked(facts, ask, no=f"phase {phase.id}: {last.refusal}")


def _waiver(facts: RunFacts, phase: PhaseFacts) -> Move | None:
    """Ask a person to accept what no fix has brought about; None where nobody can, or nobody did.

    Only items of a verdict can be accepted: every check is green, and the opinion itself is sound. Where
    nobody watches the run ends without the answer, and a later run finds it.
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
            found = next((one for one in last.judged if one.item == item), f"item {item}")
            return Ask(key, "waiver", f"accept phase {phase.id} without it, and why? {found}", phase.id)
        answers[key] = facts.approvals[key]
    if "no" in answers.values():
        return None
    waits = [key for key, answer in answers.items() if answer is None]
    if waits:
        return None if facts.auto else until_answered(waits[0])
    return Commit(phase.id, last.number)


def _in_phase(facts: RunFacts, phase: PhaseFacts, now: str) -> Move:
    if not phase.begun:
        return Begin(phase.id)
    if not phase.attempts:
        return Attempt(phase.id, 1, "implement", phase.carried)
    last = phase.attempts[-1]
    if last.ending is None or last.ending in GOES_ON:
        # The same attempt goes on, with its tree and its session.
        return Attempt(phase.id, last.number, last.role, _failures(phase))
    if last.commit is None:
        return Keep(phase.id, last.number)
    if last.ending != "done":
        if phase.repeats > REPEAT_LIMIT:
            return End(
                "failed", f"phase {phase.id}: {last.ending} {phase.repeats} times; last: {last.reason}"
            )
        return Attempt(phase.id, last.number + 1, last.role, _failures(phase))
    return _judge(facts, phase, last, now)


def _judge(facts: RunFacts, phase: PhaseFacts, last: AttemptFacts, now: str) -> Move:
    if last.checks is None:
        return _unusable(facts, phase, last) or Check(phase.id, last.number)
    if last.checks != PASS or not last.changed:
        return _fix(phase, last)
    if last.verdict is None:
        unjudged = verifier_stoppage(facts, last, phase.id, now)
        return unjudged or _verify(last, f"phase {phase.id}", Verify(phase.id, last.number))
    return Commit(phase.id, last.number) if last.verdict == PASS else _fix(phase, last)


def _unusable(facts: RunFacts, phase: PhaseFacts, last: AttemptFacts) -> Move | None:
    """Ask before checks are run again that showed nothing: no agent can change that, so it costs no fix."""
    if not last.unusable:
        return None
    why = f"the checks of phase {phase.id} showed nothing: {'; '.join(last.failures)}"
    key = UnusableKey(run=facts.run, phase=phase.id, attempt=last.number, times=last.unusable)
    return asked(facts, Ask(str(key), "continue", f"{why}. Run them again?", phase.id), no=why)


def _verify(last: AttemptFacts, what: str, move: Verify | VerifyTogether) -> Move:
    """Let it be judged; a verifier that is lost has judged nothing, so another one does."""
    if last.lost_verifiers > REPEAT_LIMIT:
        return End(
            "failed",
            f"{what}: the verifier {last.verifier} {last.lost_verifiers} times; last: {last.verifier_reason}",
        )
    return move


def _judged_together(facts: RunFacts, now: str) -> Move | None:
    """Let all phases be judged once more, together; None once that is done, or where there is only one."""
    whole = facts.whole
    if facts.reported or facts.mode != "finish" or len(facts.pending) < _SEVERAL or whole.verdict == PASS:
        return None
    if whole.verdict is None:
        unjudged = verifier_stoppage(facts, whole, None, now)
        return unjudged or _verify(whole, "all phases together", VerifyTogether())
    return _apart(tuple(map(str, whole.judged)))


def _apart(failures: tuple[str, ...]) -> End:
    """End a run whose phases are proven and do not go together; whoever wants it so lands it by hand."""
    told = f": {'; '.join(failures)}" if failures else ""
    return End("failed", f"the phases pass one by one, and not together{told}")


def _fix(phase: PhaseFacts, last: AttemptFacts) -> Move:
    if phase.fixes >= FIX_LIMIT:
        unproven = "; ".join(last.failures) or "not every item is proven"
        return End("failed", f"phase {phase.id} is not proven after {phase.fixes} fixes: {unproven}")
    return Attempt(phase.id, last.number + 1, "fix", last.failures)


def _failures(phase: PhaseFacts) -> tuple[str, ...]:
    """Return what the attempt under way has to mend: what was found last, in this run or the one before."""
    if phase.attempts[-1].role != "fix":
        return phase.carried
    return next((one.failures for one in reversed(phase.attempts) if one.failures), ())


def _after_phases(facts: RunFacts, now: str, *, is_direct: bool) -> Move:
    if not facts.works and not facts.unlanded:
        blocked = [phase.id for phase in facts.phases.values() if phase.id not in facts.done_before]
        return End("failed", f"no phase can start: {', '.join(blocked)} wait for phases that are not done")
    if is_direct:
        return _delivery(facts, now)
    if facts.together is None:
        return ProveTogether()
    if facts.together != PASS:
        return _apart(facts.apart)
    unjudged = _judged_together(facts, now)
    if unjudged is not None:
        return unjudged
    if not facts.reported:
        return Report()
    if facts.hold:
        wanted = (
            f"; before it lands you have to sign off {len(facts.sign_offs)} of its changes"
            if facts.sign_offs
            else ""
        )
        return End("held", f"everything is proven; landing was not asked for{wanted}")
    return _delivery(facts, now)


def _delivery(facts: RunFacts, now: str) -> Move:
    """Land what waits to be landed, write it into the plan, tidy up, and end."""
    if facts.way == "pr" and facts.kind != "undo":
        return pulling(facts, now)
    if facts.landing == "refused":
        return End("failed", facts.landing_reason, facts.landing_next)
    if not facts.marked:
        return Mark()
    is_undo = facts.kind == "undo"
    if facts.landing != "landed" if is_undo else facts.pending:
        unsigned = None if is_undo or facts.landing == "intended" else signing(facts)
        return unsigned or Land()
    if not facts.tidied:
        return Tidy()
    return End("undone" if is_undo else "landed", "")
