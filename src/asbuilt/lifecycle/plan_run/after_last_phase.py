"""Choose the moves after the last phase: prove all together, judge, report, and land once or hold. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.lifecycle.delivery.decide import deliver
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import PASS
from asbuilt.lifecycle.run.stoppages import verifier_move

if TYPE_CHECKING:
    from asbuilt.lifecycle.plan_run.facts import PlanFacts

_SEVERAL: Final = 2


def after_last_phase(facts: PlanFacts, now: str, *, is_direct: bool) -> moves.Move:
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
        return moves.End("held", f"everything is proven; landing was not requested{wanted}")
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
    return moves.End(
        "failed",
        f"the phases pass one by one, but not together{reasons}",
        f"`asbuilt plan mark {facts.slug} {phase} pending &&` `asbuilt run {facts.slug}{note}`",
    )
