"""Select the events that notify the user, and build the notices. Pure.

Rule: a notice holds only fixed texts and the names of run and repository: no secret, no agent output, no
text of a plan.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple

from asbuilt.events.approvals import ApprovalAsked
from asbuilt.events.event import Event
from asbuilt.events.runs import RunEnded, RunParked, WaitReason
from asbuilt.policy.redaction import Redaction


class Topic(StrEnum):
    """Topic of a notice, as in the settings."""

    NEEDS = "needs"
    PARKED = "parked"
    FAILED = "failed"
    LANDED = "landed"
    PROVEN = "proven"


class Notice(NamedTuple):
    """Title and text of one notification."""

    title: str
    text: str


class Message(NamedTuple):
    """One message to send: a single notice, or all notices that quiet hours held back."""

    id: str
    """The same on every retry, so that a receiver can drop duplicates."""
    at: str
    notices: tuple[Notice, ...]

    @property
    def title(self) -> str:
        """Title of the message."""
        return self.notices[0].title if len(self.notices) == 1 else f"{_OURS}{len(self.notices)} notices"

    @property
    def text(self) -> str:
        """Text of the message, at most 20 notices."""
        if len(self.notices) == 1:
            return self.notices[0].text
        rows = [f"{title.removeprefix(_OURS)}. {text}" for title, text in self.notices[:_ROWS]]
        more = len(self.notices) - _ROWS
        return "\n".join([*rows, *([f"and {more} more: asbuilt status"] if more > 0 else [])])


_OURS: Final = "asbuilt: "
_ROWS: Final = 20
_MASKS: Final = Redaction(homes=(), names=(), secrets=(), salt=b"")
_ENDED: Final = {
    "failed": (Topic.FAILED, "failed", "All work is kept: asbuilt status"),
    "landed": (Topic.LANDED, "landed", "All proven commits are on the branch."),
    "pr-ready": (Topic.PROVEN, "is proven", "Its pull request waits for you: asbuilt status"),
    "pr-ci-failing": (Topic.NEEDS, "needs you", "The checks of its pull request fail: asbuilt status"),
    "held": (Topic.PROVEN, "is proven", "Nothing has landed: it waits for you."),
}


def topic_of(event: Event) -> Topic | None:
    """Return the topic of an event; None if it notifies no user."""
    parts = _notice_parts(event)
    return None if parts is None else parts[0]


def notice(name: str, event: Event, questions: str = "", *, repository: str = "") -> Notice | None:
    """Return the notice for an event of a run, if it has one; `questions` is the board's page of them.

    `repository` is the name of the repository's folder; empty if unknown.
    """
    parts = _notice_parts(event)
    if parts is None:
        return None
    built = _notice(f"{name} in {repository}" if repository else name, *parts[1:])
    if questions and isinstance(event, ApprovalAsked):
        return built._replace(text=f"{built.text}, or {questions}a{event.number}")
    return built


def questions_path(repo: str) -> str:
    """Return the path of the board's questions of a repository, without their numbers."""
    return f"/question/{repo}/"


def _notice_parts(event: Event) -> tuple[Topic, str, str] | None:
    match event:
        case ApprovalAsked():
            return Topic.NEEDS, "needs you", f"Question a{event.number} waits: asbuilt approve"
        case RunParked(until=str(until)) if event.reason is not WaitReason.CHECKS:
            return Topic.PARKED, "is parked", f"It resumes automatically {_local(until)}."
        case RunEnded():
            return _ENDED.get(event.state)
        case _:
            return None


def _notice(name: str, what: str, text: str) -> Notice:
    # A plan's name is a file name, so it may contain a secret.
    shown = "".join(char if char.isprintable() else "?" for char in name)[:80]
    return Notice(f"{_OURS}{_MASKS.text(shown)} {what}", text)


def _local(moment: str) -> str:
    then = datetime.fromisoformat(moment).astimezone(UTC).astimezone()
    return f"at {then:%H:%M} {then:%Z}".rstrip()
