"""Which events a person has to know of although nobody looks on, and the words for it. Pure.

The one rule: a notice holds our own words and the run's name: no secret, no agent's words, no text of a plan.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from asbuilt.lifecycle.pulled import CI_WAIT

if TYPE_CHECKING:
    from collections.abc import Mapping


class Notice(NamedTuple):
    """What a person is told, in a title and a sentence."""

    title: str
    text: str


def notice(name: str, kind: str, data: Mapping[str, Any]) -> Notice | None:
    """Tell what to say of an event of the run `name`; None when it can wait until somebody looks."""
    match kind, data.get("state"):
        case "approval.asked", _:
            number = int(data["number"])
            return _notice(name, "needs you", f"Question a{number} waits: asbuilt approve")
        case "run.parked", _ if str(data.get("why", "")).startswith(CI_WAIT):
            return None
        case "run.parked", _ if data.get("until"):
            return _notice(name, "is parked", f"It goes on by itself {_local(str(data['until']))}.")
        case "run.ended", "failed":
            return _notice(name, "failed", "All work is kept: asbuilt status")
        case "run.ended", "landed":
            return _notice(name, "landed", "All that was proven is on its branch.")
        case "run.ended", "pr-ready":
            return _notice(name, "is proven", "Its pull request waits for you: asbuilt status")
        case "run.ended", "pr-ci-failing":
            return _notice(name, "needs you", "The checks of its pull request fail: asbuilt status")
        case "run.ended", "held":
            return _notice(name, "is proven", "Nothing has landed: it waits for you.")
        case _:
            return None


def _notice(name: str, what: str, text: str) -> Notice:
    # A plan's name is a file's name, and may hold whatever a file's name may.
    shown = "".join(char if char.isprintable() else "?" for char in name)[:80]
    return Notice(f"asbuilt: {shown} {what}", text)


def _local(moment: str) -> str:
    then = datetime.fromisoformat(moment).astimezone(UTC).astimezone()
    return f"at {then:%H:%M} {then:%Z}".rstrip()
