"""What an event is: a frozen value of one kind, and the entry of a journal that holds one.

Rule: a class of this package is what journals hold. A field that changes its meaning needs the next `version`
and an upcast in `journal.codec`; a new field needs a default.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import Struct, field

Outcome = Literal["PASS", "FAIL", "NOT_RUN", "INDETERMINATE"]
"""What a check or a verdict has shown."""
Cause = Literal["usage_limit", "overload", "auth", "budget", "max_turns", "crash", "refusal", "unheld"]
"""Why an agent stopped before its work was done."""


class Failure(Struct, frozen=True, omit_defaults=True):
    """What a verdict found unproven. Code reads the fields; only people and agents read the text."""

    text: str
    item: int | None = None
    """The number of the work item or criterion; None: it is about no single one."""
    is_fault: bool = False
    """The opinion as a whole is void, whatever it says of the items."""

    def __str__(self) -> str:
        """Word it for people and for the agent that fixes it."""
        if self.is_fault:
            return f"the verdict: {self.text}"
        return self.text if self.item is None else f"item {self.item}, {self.text}"


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that has happened. What a field leaves out in a journal is its default."""

    kind: ClassVar[str] = ""
    version: ClassVar[int] = 1
    elsewhere: ClassVar[str] = ""
    """The field that has the digest of what is too long for a journal; fields from there are `Long`."""


class Unknown(Event, frozen=True, kw_only=True):
    """An event of a kind or of a version that this version of asbuilt does not know, as it was written."""

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
    """The run that it is about; None: the plan."""
    more: dict[str, Any] = field(default_factory=dict)
    """Fields that this version does not know."""
    v: int = 1

    @property
    def kind(self) -> str:
        """Name the kind as the journal does."""
        return self.event.name if isinstance(self.event, Unknown) else self.event.kind


def phase_of(event: Event) -> str | None:
    """Name the phase that an event is about; None where it is about none."""
    return getattr(event, "phase", None)
