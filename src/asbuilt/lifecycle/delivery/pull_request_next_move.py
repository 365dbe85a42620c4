"""Choose the next move of a landing by pull request. Pure: the order of the rules is the policy.

Rule: a head is merged only if it is proven on the target's current tip, the forge's checks pass, and the user
asked for a landing. Everything that needs a decision is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.questions import PullBlockedKey, PullChecksKey
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.delivery.sign_offs import ask_sign_offs
from asbuilt.lifecycle.limits import REBASE_LIMIT, REPEAT_LIMIT, RESOLVABLE_FILES, RESOLVE_LIMIT
from asbuilt.lifecycle.pull_request.facts import CI, CONFLICT, PullFacts
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import PASS, RESUMABLE, PhaseFacts
from asbuilt.lifecycle.run.retry_times import seconds_after
from asbuilt.lifecycle.run.stoppages import stoppage

if TYPE_CHECKING:
    from asbuilt.events.pulls import PullBlocked, PullSeen
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts

READY: Final = "pr-ready"
"""End state of a run whose pull request waits for the user."""
CI_FAILING: Final = "pr-ci-failing"
"""End state of a run whose pull request has failing checks that no agent could fix."""
_BARE: Final = 2
"""Polls without any check after which the forge is taken to have none."""
_NAMED: Final = 6


def pulling(facts: DeliveryFacts, now: str) -> moves.Move:
    """Choose the next move between proof and landing. First match wins."""
    pull = facts.pull
    if not facts.marked:
        return moves.Mark()
    if not facts.pending:
        return _afterwards(facts)
    if pull.seen is None and pull.blocked is None:
        return moves.Look()
    if pull.seen is not None and pull.seen.state == "merged":
        return moves.Land()
    if pull.seen is not None and pull.seen.state == "closed" and pull.number is not None:
        return moves.End("stopped", f"{_name(pull)} was closed; all proven commits are kept")
    if pull.blocked is not None:
        return _blocked(facts, pull.blocked)
    if pull.head is None or pull.seen is None:
        return ask_sign_offs(facts) or moves.Push()
    if pull.number is None or pull.seen.state != "open":
        return moves.Propose()
    return _watch(facts, pull, pull.seen, now)


def repair_under_way(facts: DeliveryFacts) -> PhaseFacts | None:
    """Return the repair of the pull request whose last attempt is not applied yet."""
    for repair in facts.repairs.values():
        if repair.attempts and repair.attempts[-1].number > facts.pull.settled.get(repair.id, 0):
            return repair
    return None


def _watch(facts: DeliveryFacts, pull: PullFacts, seen: PullSeen, now: str) -> moves.Move:
    """Wait for the forge's checks, repair failing ones, follow the target, and merge."""
    if seen.head != pull.head:
        # Another user pushed: these commits are proven too, or the user is asked.
        return moves.Push()
    if seen.checks == "red":
        return _red(facts, pull, seen)
    is_bare = seen.checks == "none" and pull.bare < _BARE
    if is_bare or seen.checks == "pending" or seen.mergeable == "unknown":
        return _wait(pull, seen, now)
    if seen.target != pull.target:
        if pull.rebases < REBASE_LIMIT:
            return moves.Push()
        return moves.End(
            READY, f"{_name(pull)} is green; {facts.branch} has moved again, {REBASE_LIMIT + 1} times"
        )
    if pull.refused:
        return moves.End(READY, f"{_name(pull)} is green, but the forge refused to merge it: {pull.refused}")
    if seen.mergeable == "no":
        return moves.End(READY, f"{_name(pull)} is green, but the forge reports that it cannot be merged")
    return (
        moves.Merge()
        if facts.auto
        else moves.End(READY, f"{_name(pull)} is proven and green; merge it when you are ready")
    )


def _wait(pull: PullFacts, seen: PullSeen, now: str) -> moves.Move:
    again_at, over_at = seconds_after(seen.asked_at, pull.poll_s), seconds_after(pull.pushed_at, pull.limit_s)
    if seen.asked_at >= over_at:
        what = f"its checks have not finished within {pull.limit_s} s of the push"
        return moves.End(READY, f"{_name(pull)} is open; {what}")
    return (
        moves.Wait(WaitReason.CHECKS, f"the checks of pull request #{pull.number}", again_at)
        if again_at > now
        else moves.Look()
    )


def _red(facts: DeliveryFacts, pull: PullFacts, seen: PullSeen) -> moves.Move:
    """Have an agent fix the forge's failing checks, then ask; each yes grants as many fixes again."""
    failures = tuple(f"the forge's check {name} fails" for name in seen.failing[:_NAMED])
    failures += (seen.excerpt,) if seen.excerpt else ()
    granted = sum(answer == "yes" for answer in facts.answers(PullChecksKey).values())
    move = _repair(facts, facts.repairs[CI], failures, pull.fix_limit * (granted + 1))
    if move is not None:
        return move
    names = ", ".join(seen.failing[:_NAMED])
    used = facts.repairs[CI].fixes
    what = f"{CI_FAILING}: {names or 'a check'} of {_name(pull)} fails after {used} fixes"
    key = str(PullChecksKey(run=facts.run, number=granted + 1))
    if key not in facts.approvals:
        return moves.Ask(key, "continue", f"{what}; try again?")
    return moves.End(CI_FAILING, what) if facts.approvals[key] == "no" else moves.until_answered(key)


def _blocked(facts: DeliveryFacts, blocked: PullBlocked) -> moves.Move:
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


def _afterwards(facts: DeliveryFacts) -> moves.Move:
    """Tidy up after a landing, close the issues, and check that nothing is left behind."""
    if not facts.landing.tidied:
        return moves.Tidy()
    if facts.closes_issues:
        return moves.CloseIssues()
    if facts.pull.broken is None:
        return moves.CheckInvariants()
    if facts.pull.broken:
        return moves.End(
            "failed", f"landed, but not everything was cleaned up: {'; '.join(facts.pull.broken)}"
        )
    return moves.End("landed", "")


def _name(pull: PullFacts) -> str:
    return f"pull request #{pull.number} ({pull.url})"
