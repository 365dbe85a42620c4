"""Choose the next move of a landing by pull request. Pure: the order of the rules is the policy.

Rule: a head is merged only if it is proven on the target's current tip, the forge's checks pass, and the user
asked for a landing. Everything that needs a decision is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.pulls import PullSeen
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.limits import REBASE_LIMIT
from asbuilt.lifecycle.pull_request.facts import PullFacts
from asbuilt.lifecycle.pull_request.repairs import after_block, after_failing_checks
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.retry_times import seconds_after

if TYPE_CHECKING:
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts

READY: Final = "pr-ready"
"""End state of a run whose pull request waits for the user."""
_BARE: Final = 2
"""Polls without any check after which the forge is taken to have none."""


def pulling(facts: DeliveryFacts, now: str, *, sign_off: moves.Move | None) -> moves.Move:
    """Choose the next move between proof and landing; `sign_off` precedes the first push."""
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
        return moves.End("stopped", f"{pull.name} was closed; all proven commits are kept")
    if pull.blocked is not None:
        return after_block(facts, pull.blocked)
    if pull.head is None or pull.seen is None:
        return sign_off or moves.Push()
    if pull.number is None or pull.seen.state != "open":
        return moves.Propose()
    return _watch(facts, pull, pull.seen, now)


def _watch(facts: DeliveryFacts, pull: PullFacts, seen: PullSeen, now: str) -> moves.Move:
    """Wait for the forge's checks, repair failing ones, follow the target, and merge."""
    if seen.head != pull.head:
        # Another user pushed: these commits are proven too, or the user is asked.
        return moves.Push()
    if seen.checks == "red":
        return after_failing_checks(facts, pull, seen)
    is_bare = seen.checks == "none" and pull.bare < _BARE
    if is_bare or seen.checks == "pending" or seen.mergeable == "unknown":
        return _wait(pull, seen, now)
    if seen.target != pull.target:
        if pull.rebases < REBASE_LIMIT:
            return moves.Push()
        return moves.End(
            READY, f"{pull.name} is green; {facts.branch} has moved again, {REBASE_LIMIT + 1} times"
        )
    if pull.refused:
        return moves.End(READY, f"{pull.name} is green, but the forge refused to merge it: {pull.refused}")
    if seen.mergeable == "no":
        return moves.End(READY, f"{pull.name} is green, but the forge reports that it cannot be merged")
    return (
        moves.Merge()
        if facts.auto
        else moves.End(READY, f"{pull.name} is proven and green; merge it when you are ready")
    )


def _wait(pull: PullFacts, seen: PullSeen, now: str) -> moves.Move:
    again_at, over_at = seconds_after(seen.asked_at, pull.poll_s), seconds_after(pull.pushed_at, pull.limit_s)
    if seen.asked_at >= over_at:
        what = f"its checks have not finished within {pull.limit_s} s of the push"
        return moves.End(READY, f"{pull.name} is open; {what}")
    return (
        moves.Wait(WaitReason.CHECKS, f"the checks of pull request #{pull.number}", again_at)
        if again_at > now
        else moves.Look()
    )


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
