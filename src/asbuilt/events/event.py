"""The base class of events, and the journal entry that contains an event.

Rule: journals store the classes of this package. A field that changes its meaning needs the next `version`
and an upcast in `journal.encoding.upcasts`; a new field needs a default.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import Struct, field

Outcome = Literal["PASS", "FAIL", "NOT_RUN", "INDETERMINATE"]
"""Result of a check or a verdict."""
Cause = Literal["usage_limit", "overload", "auth", "budget", "max_turns", "crash", "refusal", "unheld"]
"""Why an agent stopped before its work was done."""


class Failure(Struct, frozen=True, omit_defaults=True):
    """A point that a verdict found unproven. Code reads the fields; only people and agents read the text."""

    text: str
    item: int | None = None
    """Number of the work item or criterion; None if it is about no single item."""
    is_fault: bool = False
    """The whole opinion is void, whatever it says about the items."""
    is_rejected: bool = False
    """asbuilt did not accept the verifier's word on the item: its evidence is missing or contradicted."""

    def __str__(self) -> str:
        """Return the text for people and for the agent that fixes it."""
        if self.is_fault:
            return f"the verdict: {self.text}"
        return self.text if self.item is None else f"item {self.item}, {self.text}"


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happened. A field that a journal leaves out has its default."""

    kind: ClassVar[str] = ""
    version: ClassVar[int] = 1
    elsewhere: ClassVar[str] = ""
    """Name of the field with the digest of a blob, which has the fields that are too long for a journal."""


class OfAttempt(Event, frozen=True, kw_only=True):
    """Something that happened to an attempt: its phase, stage or repair, and its number."""

    phase: str
    number: int


class Unknown(Event, frozen=True, kw_only=True):
    """An event whose kind or version this version of asbuilt does not know, as it was written."""

    name: str
    number: int
    data: dict[str, Any]


class Entry(Struct, frozen=True, kw_only=True):
    """One line of a plan's journal."""

    seq: int
    key: str
    at: str
    actor: str
    event: Event
    run: str | None = None
    """The run that the event is about; None for the plan."""
    more: dict[str, Any] = field(default_factory=dict)
    """Fields that this version does not know."""
    v: int = 1

    @property
    def kind(self) -> str:
        """Return the kind's name in the journal."""
        return self.event.name if isinstance(self.event, Unknown) else self.event.kind


def phase_of(event: Event) -> str | None:
    """Return the phase that an event is about, or None."""
    return getattr(event, "phase", None)
