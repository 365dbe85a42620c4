"""Questions to users and their answers, here and at the forge."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from asbuilt.events.event import Event


class ApprovalAsked(Event, frozen=True, kw_only=True):
    """A question was asked."""

    kind: ClassVar[str] = "approval.asked"
    number: int
    key: str
    about: str = field(name="kind", default="")
    """Kind of question."""
    phase: str | None = None
    question: str = ""


class ApprovalAnswered(Event, frozen=True, kw_only=True):
    """A question was answered or withdrawn."""

    kind: ClassVar[str] = "approval.answered"
    number: int
    key: str
    answer: str
    note: str = ""


class ApprovalPutOff(Event, frozen=True, kw_only=True):
    """A user postponed the answer."""

    kind: ClassVar[str] = "approval.put_off"
    number: int
    by: str = ""


class ReviewAsked(Event, frozen=True, kw_only=True):
    """A plan was opened for review at the forge."""

    kind: ClassVar[str] = "review.asked"
    question: str | int
    pull: int
    url: str = ""


class ReviewClosed(Event, frozen=True, kw_only=True):
    """The review of a plan at the forge ended."""

    kind: ClassVar[str] = "review.closed"
    pull: int
    url: str = ""
    why: str = ""
