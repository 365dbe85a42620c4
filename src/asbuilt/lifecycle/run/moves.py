"""What a run can do next: a closed set of moves. The type checker finds every match that lacks one."""

from __future__ import annotations

from msgspec import Struct

from asbuilt.events.questions import QuestionKind  # noqa: TC001 - read when a move is decoded
from asbuilt.events.runs import WaitReason


class _Move(Struct, frozen=True, tag=True, tag_field="move"):
    """A move; the engine records it under the name of its class."""


class Start(_Move, frozen=True):
    """Look at the repository, and write down what this run is."""


class ResolveTests(_Move, frozen=True):
    """Find out how the project is tested, once for the whole run."""


class MakeWorkspace(_Move, frozen=True):
    """Give the run a checkout of its own."""


class SetUp(_Move, frozen=True):
    """Prepare a checkout for checks, before any agent's code is there."""


class Baseline(_Move, frozen=True):
    """Run the tests on the base, so that old failures can be told from new ones."""


class Begin(_Move, frozen=True):
    """Freeze a phase's text and intent."""

    phase: str


class Attempt(_Move, frozen=True):
    """Let an agent work; going on with one that was begun is the same move."""

    phase: str
    number: int
    role: str
    failures: tuple[str, ...] = ()


class Keep(_Move, frozen=True):
    """Put the attempt's tree under a ref before anything else touches it."""

    phase: str
    number: int


class Check(_Move, frozen=True):
    """Run the tests and the phase's own checks on a clean checkout of the tree."""

    phase: str
    number: int


class Verify(_Move, frozen=True):
    """Let another agent judge every item, in a read-only workspace."""

    phase: str
    number: int


class Compare(_Move, frozen=True):
    """Compare the plan's file with the text that the proven phases were frozen from."""

    point: str


class Commit(_Move, frozen=True):
    """Make the outcome commit and advance the plan's branch."""

    phase: str
    number: int


class Recheck(_Move, frozen=True):
    """Run the tests and the checks of a phase again, on what stands now."""

    phase: str


class Ask(_Move, frozen=True):
    """Put a question to a person, and wait."""

    key: str
    kind: QuestionKind
    question: str
    phase: str | None = None
    intent: str | None = None
    """What a yes binds."""


class ProveTogether(_Move, frozen=True):
    """Run every check on the result as a whole."""


class VerifyTogether(_Move, frozen=True):
    """Let another agent judge all phases once more, for what only shows when everything is there."""


class Report(_Move, frozen=True):
    """Write the account of the run."""


class Land(_Move, frozen=True):
    """Move what is proven to the target branch; for an undo, what takes it back."""


class Mark(_Move, frozen=True):
    """Write outcomes into the plan, with the landed hashes."""


class Tidy(_Move, frozen=True):
    """Remove what a landed run no longer needs, where nothing is lost with it."""


class Judge(_Move, frozen=True):
    """Judge what an agent handed in for a stage of authoring."""

    stage: str
    number: int


class Draft(_Move, frozen=True):
    """Write down the plan that the stages have brought, as a revision of the draft."""


class Post(_Move, frozen=True):
    """Write into the ledger what has come of a task: status and artifact, and that nothing is pending."""


class File(_Move, frozen=True):
    """Put the plan that a person approved into the checkout."""


class Look(_Move, frozen=True):
    """Ask the forge how the plan's pull request stands."""


class Push(_Move, frozen=True):
    """Put what is proven onto the pull request's branch, built and proven on the target of now."""


class Propose(_Move, frozen=True):
    """Open the pull request, or find it, and say in it how far the plan is."""


class Mend(_Move, frozen=True):
    """Take over what an agent has mended of a pull request, once it is proven."""

    repair: str
    number: int


class Merge(_Move, frozen=True):
    """Let the forge merge the pull request, if it is still what was proven."""


class CloseIssues(_Move, frozen=True):
    """Tell the issues that a plan names what has landed, and close them."""


class CheckInvariants(_Move, frozen=True):
    """See that a landing by pull request has left nothing behind."""


class Wait(_Move, frozen=True):
    """Nothing can be done before a time, or before somebody acts."""

    reason: WaitReason
    why: str
    """The same for people, with what exactly it is."""
    until: str | None
    question: str = ""
    """The key or the name of the question that somebody has to answer."""


def until_answered(question: str) -> Wait:
    """Wait until somebody has answered."""
    return Wait(WaitReason.ANSWER, f"approval {question}", None, question)


class End(_Move, frozen=True):
    """The run is over."""

    state: str
    reason: str
    next_step: str = ""
    """What the user can do about it."""


PullMove = Look | Push | Propose | Mend | Merge | CloseIssues
"""Moves that ask the forge for something."""
Move = (
    Start | ResolveTests | MakeWorkspace | SetUp | Baseline | Begin | Attempt | Keep | Check | Verify | Commit
    | Compare | Recheck | Ask | ProveTogether | VerifyTogether | Report | Land | Mark | Tidy | Judge
    | Draft | File | Post | Look | Push | Propose | Mend | Merge | CloseIssues | CheckInvariants | Wait | End
)  # fmt: skip
