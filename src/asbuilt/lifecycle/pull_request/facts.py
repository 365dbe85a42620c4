"""Facts of a plan's pull request, folded from a run's events. Pure."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from asbuilt.events import pulls
from asbuilt.events.event import Event
from asbuilt.events.options import RunOptions, value_or
from asbuilt.lifecycle.limits import FIX_LIMIT, FORGE_CHECKS_S

CI: Final = "ci_checks"
CONFLICT: Final = "merge_conflict"
REPAIRS: Final = (CI, CONFLICT)
"""Addresses of the agents that repair a pull request; no phase of a plan can have these names."""
POLL_S: Final = 30


class PullFacts(Struct):
    """Facts of the plan's pull request in one run."""

    poll_s: int = POLL_S
    limit_s: int = FORGE_CHECKS_S
    """Maximum wait for the forge's checks after a push."""
    fix_limit: int = FIX_LIMIT
    looks: int = 0
    seen: pulls.PullSeen | None = None
    """The last poll; its excerpt is untrusted text. None: not polled since the last change."""
    bare: int = 0
    """Polls since the last push that found no check."""
    head: str | None = None
    """The last commit that this run pushed."""
    target: str | None = None
    """Tip of the target on which it was built and proven."""
    pushes: int = 0
    pushed_at: str = ""
    rebases: int = 0
    number: int | None = None
    url: str = ""
    blocks: int = 0
    blocked: pulls.PullBlocked | None = None
    """Why nothing could be pushed: conflict, red, or moved."""
    refused: str = ""
    settled: dict[str, int] = field(default_factory=dict)
    broken: tuple[str, ...] | None = None
    """Leftovers of the landing; None before the check."""

    @property
    def name(self) -> str:
        """Return its number and its address, as messages name it."""
        return f"pull request #{self.number} ({self.url})"


def pull_in(options: RunOptions) -> PullFacts:
    """Return the initial facts from the run's options."""
    chosen = options.pull
    return PullFacts(
        poll_s=value_or(chosen.poll_s, POLL_S),
        limit_s=value_or(chosen.limit_s, FORGE_CHECKS_S),
        fix_limit=value_or(chosen.fixes, FIX_LIMIT),
    )


def fold_pull(pull: PullFacts, event: Event) -> None:
    """Fold one event of a landing by pull request."""
    match event:
        case pulls.PullSeen():
            pull.looks += 1
            pull.seen = event
            pull.bare += event.checks == "none"
        case pulls.PullPushed():
            pull.pushes += 1
            pull.rebases += pull.target not in (None, event.target)
            pull.head, pull.target, pull.pushed_at = event.head, event.target, event.pushed_at
            pull.seen, pull.bare, pull.blocked, pull.refused = None, 0, None, ""
        case pulls.PullBlocked():
            pull.blocks += 1
            pull.blocked = event
        case pulls.PullOpened():
            pull.number, pull.url, pull.seen = event.number, event.url, None
        case pulls.PullMended():
            pull.settled[event.repair] = event.number
            pull.blocked = None
            # A repair is pushed next, whatever the forge reported about the head before it.
            pull.head = None
        case pulls.PullMerged():
            pull.seen = None
        case pulls.PullRefused():
            pull.refused, pull.seen = event.why, None
        case pulls.PullInvariants():
            pull.broken = event.broken


def look_again(pull: PullFacts) -> None:
    """Clear the last poll and the obstacle: the user says that they may have changed."""
    if pull.blocked is not None:
        pull.head = None
    pull.seen, pull.blocked, pull.refused = None, None, ""


def start_over(pull: PullFacts) -> None:
    """Clear a merged pull request: remaining work needs another one."""
    pull.seen = pull.head = pull.target = pull.number = None
