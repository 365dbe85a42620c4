"""What is known about an authoring session, folded from its events. Nothing here decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from msgspec import Struct, field

from asbuilt.events.event import phase_of
from asbuilt.lifecycle.approval import Drafts
from asbuilt.lifecycle.run.facts import PhaseFacts, RunFacts

if TYPE_CHECKING:
    from asbuilt.events.event import Event
    from asbuilt.events.options import RunKind

CRITIC: Final = "critique"


def role_of(stage: str) -> str:
    """Return the role that does a stage: the critic of a plan has not written it."""
    return CRITIC if stage.startswith(CRITIC) else "plan"


class Handed(NamedTuple):
    """What was handed in for a stage of authoring and accepted."""

    stage: str
    round: int
    text: str
    """Digest."""
    attempt: str
    """The address of who handed it in, below the run: `draft.1`."""


class DraftFacts(Struct):
    """An authoring: its stages, its questions, and the revisions that came of them."""

    slug: str = ""
    in_conversation: bool = False
    """A conversation of the person writes it; only its critics are agents that a worker starts."""
    due: str = ""
    """The stage that comes next, or is under way."""
    judged: dict[str, int] = field(default_factory=dict)
    """Of each stage the last attempt whose output was judged."""
    accepted: list[Handed] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Digests of what was wrong with the outputs of the stage that is due."""
    proposals: str | None = None
    """Digest of what several planners have proposed, each on their own."""
    gave_up: str = ""
    finished: str | None = None
    """Why the stages have come to an end, as long as their plan is not written down."""
    batches: list[tuple[str, ...]] = field(default_factory=list)
    """Questions to a person, by their keys, as they were asked together."""
    asked: dict[str, str] = field(default_factory=dict)
    """Each question in words, by its key."""
    notes: dict[str, str] = field(default_factory=dict)
    """What people have written with their answers, by the key of the question."""
    texts: Drafts = field(default_factory=Drafts)
    """The revisions that came of it, and what people said to them."""
    feedback: list[str] = field(default_factory=list)
    """Why people have sent a revision back."""
    reopened_at: int | None = None
    """So many outputs were accepted when the last revision was sent back; None: it was not."""


class AuthoringFacts(RunFacts):
    """A run that authors a plan: its phases are the stages."""

    kind: ClassVar[RunKind] = "author"
    plans: ClassVar[bool] = True
    draft: DraftFacts = field(default_factory=DraftFacts)

    @property
    def current(self) -> PhaseFacts | None:
        """The stage that is due."""
        return self.phases.get(self.draft.due)

    def is_work(self, event: Event) -> bool:
        """Whether the time up to an event is the run's: a conversation writes stages in its own time."""
        phase = phase_of(event)
        return not self.draft.in_conversation or phase is None or role_of(phase) == CRITIC
