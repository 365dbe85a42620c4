"""What a run knows of its plan's pull request, folded from its events. Nothing here decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct, field

from asbuilt.events.options import value_or
from asbuilt.events.pulls import (
    IssuesTold,
    PullBlocked,
    PullInvariants,
    PullMended,
    PullMerged,
    PullOpened,
    PullPushed,
    PullRefused,
    PullSeen,
)

if TYPE_CHECKING:
    from asbuilt.events.event import Event
    from asbuilt.events.options import RunOptions

CI: Final = "ci_checks"
CONFLICT: Final = "merge_conflict"
REPAIRS: Final = (CI, CONFLICT)
"""Where the agents have their address that mend a pull request; no phase of a plan can be called so."""
POLL_S: Final = 30
LIMIT_S: Final = 600
FIX_LIMIT: Final = 2


class Seen(NamedTuple):
    """A pull request as the forge told of it."""

    state: str
    """none, open, merged or closed."""
    at: str
    """When the forge was asked, by the journal's clock."""
    head: str | None = None
    """Where its branch is at the forge."""
    mergeable: str = "unknown"
    checks: str = "none"
    failing: tuple[str, ...] = ()
    excerpt: str = ""
    """The end of what the failing ones said: somebody else's text."""
    target: str | None = None
    """The tip of the target at the forge."""


class Blocked(NamedTuple):
    """Why nothing could be pushed; with a conflict, which commit does not go onto which."""

    kind: str
    """conflict, red, or moved."""
    words: str
    next_step: str
    paths: tuple[str, ...] = ()
    commit: str = ""
    here: str = ""


class PullFacts(Struct):
    """The plan's pull request, as one run knows it."""

    poll_s: int = POLL_S
    limit_s: int = LIMIT_S
    """How long the forge's checks are waited for after a push."""
    fix_limit: int = FIX_LIMIT
    """How often an agent may mend them before a person is asked."""
    looks: int = 0
    seen: Seen | None = None
    """None: nobody has looked since something changed."""
    bare: int = 0
    """Looks since the last push that found no check at all."""
    head: str | None = None
    """What this run has pushed last."""
    target: str | None = None
    """The tip of the target that it is built and proven on."""
    pushes: int = 0
    pushed_at: str = ""
    rebases: int = 0
    number: int | None = None
    url: str = ""
    blocks: int = 0
    blocked: Blocked | None = None
    refused: str = ""
    """Why the forge did not merge."""
    settled: dict[str, int] = field(default_factory=dict)
    """Of each repair the last attempt that was taken over."""
    issues: bool = False
    """The issues that the plan names were told."""
    broken: tuple[str, ...] | None = None
    """What was left behind; None while nobody has looked."""


def pull_in(options: RunOptions) -> PullFacts:
    """Begin with what was chosen when the run was asked for."""
    chosen = options.pull
    return PullFacts(
        poll_s=value_or(chosen.poll_s, POLL_S),
        limit_s=value_or(chosen.limit_s, LIMIT_S),
        fix_limit=value_or(chosen.fixes, FIX_LIMIT),
    )


def hear_pull(pull: PullFacts, event: Event) -> None:
    """Hear an event of a landing by pull request."""
    match event:
        case PullSeen():
            pull.looks += 1
            pull.seen = Seen(
                event.state,
                event.asked_at,
                event.head,
                event.mergeable,
                event.checks,
                event.failing,
                event.excerpt,
                event.target,
            )
            pull.bare += event.checks == "none"
        case PullPushed():
            pull.pushes += 1
            pull.rebases += pull.target not in (None, event.target)
            pull.head, pull.target, pull.pushed_at = event.head, event.target, event.pushed_at
            pull.seen, pull.bare, pull.blocked, pull.refused = None, 0, None, ""
        case PullBlocked():
            pull.blocks += 1
            pull.blocked = Blocked(event.why, event.what, event.next, event.paths, event.commit, event.here)
        case PullOpened():
            pull.number, pull.url, pull.seen = event.number, event.url, None
        case PullMended():
            pull.settled[event.repair] = event.number
            pull.blocked = None
            # What is mended is pushed next, whatever the forge said of what was there before.
            pull.head = None
        case PullMerged():
            pull.seen = None
        case PullRefused():
            pull.refused, pull.seen = event.why, None
        case PullInvariants():
            pull.broken = event.broken
        case IssuesTold():
            pull.issues = True
        case _:
            return


def look_again(pull: PullFacts) -> None:
    """Forget what the forge has said, and what stood in the way: a person says that it may have changed."""
    if pull.blocked is not None:
        pull.head = None
    pull.seen, pull.blocked, pull.refused = None, None, ""


def start_over(pull: PullFacts) -> None:
    """Forget a pull request that was merged: what is left takes another one."""
    pull.seen = pull.head = pull.target = pull.number = None
