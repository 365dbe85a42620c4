"""Facts of an authoring session, folded from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from msgspec import Struct, field

from asbuilt.events.event import Event, phase_of
from asbuilt.lifecycle.approval import Drafts
from asbuilt.lifecycle.run.facts import PhaseFacts, RunFacts

if TYPE_CHECKING:
    from asbuilt.events.options import RunKind

CRITIC: Final = "critique"


def role_of(stage: str) -> str:
    """Return the role of a stage. A critique has its own role: the critic is not the author."""
    return CRITIC if stage.startswith(CRITIC) else "plan"


class Handed(NamedTuple):
    """An accepted output of a stage."""

    stage: str
    round: int
    text: str
    """Digest."""
    attempt: str
    """Address of the attempt that submitted it, below the run: `draft.1`."""


class DraftFacts(Struct):
    """Facts of an authoring: its stages, its questions and its revisions."""

    slug: str = ""
    in_conversation: bool = False
    """The user's conversation writes the plan; a worker starts only the critics."""
    due: str = ""
    """The stage that is due or in progress."""
    judged: dict[str, int] = field(default_factory=dict)
    """The last attempt of each stage whose output was judged."""
    accepted: list[Handed] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Digests of the flaws in refused outputs of the stage that is due."""
    proposals: str | None = None
    """Digest of the proposals of several planners."""
    sketch: str = ""
    """Digest of the plan so far, in an interview."""
    gave_up: str = ""
    finished: str | None = None
    """Why the stages ended; None before that, and once their plan is written."""
    batches: list[tuple[str, ...]] = field(default_factory=list)
    """Keys of the questions to the user, grouped as they were asked."""
    asked: dict[str, str] = field(default_factory=dict)
    """Text of each question, by its key."""
    notes: dict[str, str] = field(default_factory=dict)
    """The users' notes on their answers, by the question's key."""
    texts: Drafts = field(default_factory=Drafts)
    """Revisions of the plan, and the users' answers."""
    feedback: list[str] = field(default_factory=list)
    """The users' notes on revisions that they sent back."""
    reopened_at: int | None = None
    """Number of accepted outputs when the last revision was sent back; None if none was."""


class AuthoringFacts(RunFacts):
    """Facts of a run that authors a plan. Its phases are the stages."""

    kind: ClassVar[RunKind] = "author"
    plans: ClassVar[bool] = True
    draft: DraftFacts = field(default_factory=DraftFacts)

    @property
    def current(self) -> PhaseFacts | None:
        """The stage that is due."""
        return self.phases.get(self.draft.due)

    def is_work(self, event: Event) -> bool:
        """Return whether the time up to an event counts as work; stages that a conversation writes do not."""
        phase = phase_of(event)
        return not self.draft.in_conversation or phase is None or role_of(phase) == CRITIC
