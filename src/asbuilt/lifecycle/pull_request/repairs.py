"""Choose how a pull request is repaired: by an agent, and when its tries are used up, as the user answers.

Rule: the order of the checks is the policy; a repair is applied only if its checks pass. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.pulls import PullBlocked, PullSeen
from asbuilt.events.questions import PullBlockedKey, PullChecksKey
from asbuilt.lifecycle.limits import REPEAT_LIMIT, RESOLVABLE_FILES, RESOLVE_LIMIT
from asbuilt.lifecycle.pull_request.facts import CI, CONFLICT, PullFacts
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import PASS, RESUMABLE, PhaseFacts
from asbuilt.lifecycle.run.stoppages import stoppage

if TYPE_CHECKING:
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts

CI_FAILING: Final = "pr-ci-failing"
"""End state of a run whose pull request has failing checks that no agent could fix."""
_NAMED: Final = 6


def repair_under_way(facts: DeliveryFacts) -> PhaseFacts | None:
    """Return the repair of the pull request whose last attempt is not applied yet."""
    for repair in facts.repairs.values():
        if repair.attempts and repair.attempts[-1].number > facts.pull.settled.get(repair.id, 0):
            return repair
    return None


def after_failing_checks(facts: DeliveryFacts, pull: PullFacts, seen: PullSeen) -> moves.Move:
    """Have an agent fix the forge's failing checks, then ask; each yes grants as many fixes again."""
    failures = tuple(f"the forge's check {name} fails" for name in seen.failing[:_NAMED])
    failures += (seen.excerpt,) if seen.excerpt else ()
    granted = sum(answer == "yes" for answer in facts.answers(PullChecksKey).values())
    move = _repair(facts, facts.repairs[CI], failures, pull.fix_limit * (granted + 1))
    if move is not None:
        return move
    names = ", ".join(seen.failing[:_NAMED])
    used = facts.repairs[CI].fixes
    what = f"{CI_FAILING}: {names or 'a check'} of {pull.name} fails after {used} fixes"
    key = str(PullChecksKey(run=facts.run, number=granted + 1))
    if key not in facts.approvals:
        return moves.Ask(key, "continue", f"{what}; try again?")
    return moves.End(CI_FAILING, what) if facts.approvals[key] == "no" else moves.until_answered(key)


def after_block(facts: DeliveryFacts, blocked: PullBlocked) -> moves.Move:
    """Have an agent resolve a conflict in up to 5 files; ask the user about every other obstacle."""
    if blocked.why == "conflict" and 0 < len(blocked.paths) <= RESOLVABLE_FILES:
        instruction = f"resolve the conflict in {', '.join(blocked.paths)}: each has conflict markers"
        move = _repair(facts, facts.repairs[CONFLICT], (instruction,), RESOLVE_LIMIT)
        if move is not None:
            return move
    key = str(PullBlockedKey(run=facts.run, number=facts.pull.blocks))
    if key not in facts.approvals:
        return moves.Ask(key, "continue", f"{blocked.what} {blocked.next} Continue then?")
    return moves.End("failed", blocked.what) if facts.approvals[key] == "no" else moves.until_answered(key)


def _repair(
    facts: DeliveryFacts, repair: PhaseFacts, failures: tuple[str, ...], limit: int
) -> moves.Move | None:
    """Have an agent repair the pull request and prove the result; None when its tries are used up."""
    settled = facts.pull.settled.get(repair.id, 0)
    open_ = [attempt for attempt in repair.attempts if attempt.number > settled]
    number = repair.attempts[-1].number if repair.attempts else 0
    may_begin = repair.fixes < limit
    if not open_:
        return moves.Attempt(repair.id, number + 1, "fix", failures) if may_begin else None
    last, before = open_[-1], open_[-2].failures if len(open_) > 1 else ()
    stopped = stoppage(facts, repair)
    if stopped is not None:
        return stopped
    if last.ending is None or last.ending in RESUMABLE:
        return moves.Attempt(repair.id, number, "fix", (*failures, *before))
    if last.commit is None:
        return moves.Keep(repair.id, number)
    if last.ending == "done" and last.changed and last.checks is None:
        return moves.Check(repair.id, number)
    if last.ending == "done" and last.changed and last.checks == PASS:
        return moves.Mend(repair.id, number)
    if not may_begin or repair.repeats > REPEAT_LIMIT:
        return None
    return moves.Attempt(repair.id, number + 1, "fix", (*failures, *last.failures))
