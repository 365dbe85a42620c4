"""Moves of a run: a closed set. The type checker finds every match that lacks a move."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from asbuilt.events.questions import QuestionKind
from asbuilt.events.runs import WaitReason


class _Move(Struct, frozen=True, tag=True, tag_field="move"):
    """A move; the engine records it under the name of its class."""


class Start(_Move, frozen=True):
    """Inspect the repository and record what this run is."""


class ResolveTests(_Move, frozen=True):
    """Resolve the project's test command, once per run."""


class MakeWorkspace(_Move, frozen=True):
    """Create the run's own checkout."""


class SetUp(_Move, frozen=True):
    """Prepare a checkout for checks, before it has an agent's code."""


class Baseline(_Move, frozen=True):
    """Run the tests on the base, to distinguish old failures from new ones."""


class Begin(_Move, frozen=True):
    """Freeze a phase's text and intent."""

    phase: str


class Fork(_Move, frozen=True):
    """Open a lane for a phase, on a commit."""

    phase: str
    base: str


class Join(_Move, frozen=True):
    """Close the lane of a phase: it is ready to be merged, or given up."""

    phase: str
    state: Literal["ready", "failed", "stopped"]
    number: int = 0
    reason: str = ""
    next_step: str = ""


class MergePhase(_Move, frozen=True):
    """Merge the proven attempt of a ready phase with what was proven since, as one more attempt."""

    phase: str
    of: int
    number: int


class Delegate(_Move, frozen=True):
    """Request a run of the plan that a phase is delegated to."""

    phase: str


class ProveDelegated(_Move, frozen=True):
    """Run the tests and the checks of a delegated phase on the target."""

    phase: str


class Attempt(_Move, frozen=True):
    """Start an agent, or resume one."""

    phase: str
    number: int
    role: str
    failures: tuple[str, ...] = ()


class Keep(_Move, frozen=True):
    """Store the attempt's tree under a ref before anything else changes it."""

    phase: str
    number: int


class Check(_Move, frozen=True):
    """Run the tests and the phase's own checks on a clean checkout of the tree."""

    phase: str
    number: int


class Verify(_Move, frozen=True):
    """Have another agent judge every item, in a read-only workspace."""

    phase: str
    number: int
    role: str = "verify"
    """`test`: a tester, who drives the interface."""


class Compare(_Move, frozen=True):
    """Compare the plan's file with the text that the proven phases were frozen from."""

    point: str


class Commit(_Move, frozen=True):
    """Make the outcome commit and advance the plan's branch."""

    phase: str
    number: int


class Recheck(_Move, frozen=True):
    """Run the tests and the checks of a phase again, on the tree that the run started with."""

    phase: str


class Ask(_Move, frozen=True):
    """Ask the user a question."""

    key: str
    kind: QuestionKind
    question: str
    phase: str | None = None
    intent: str | None = None
    """The intent that a yes approves."""


class ProveTogether(_Move, frozen=True):
    """Run every check on the result as a whole."""


class VerifyTogether(_Move, frozen=True):
    """Have another agent judge all phases together."""


class Report(_Move, frozen=True):
    """Write the run's report."""


class Land(_Move, frozen=True):
    """Move proven commits to the target branch; for an undo, their reverts."""


class Mark(_Move, frozen=True):
    """Write outcomes into the plan, with the landed hashes."""


class Tidy(_Move, frozen=True):
    """Delete what a landed run no longer needs, if nothing is lost."""


class Judge(_Move, frozen=True):
    """Judge an agent's output for a stage of authoring."""

    stage: str
    number: int


class Draft(_Move, frozen=True):
    """Write the plan of the stages as a revision of the draft."""


class Post(_Move, frozen=True):
    """Write a task's status and artifact into the ledger, and clear its pending state."""


class File(_Move, frozen=True):
    """Write the approved plan into the checkout."""


class Look(_Move, frozen=True):
    """Poll the forge for the state of the plan's pull request."""


class Push(_Move, frozen=True):
    """Push proven work to the pull request's branch, rebuilt and proven on the current target."""


class Propose(_Move, frozen=True):
    """Open or find the pull request, and write the plan's progress into it."""


class Mend(_Move, frozen=True):
    """Apply an agent's proven repair of a pull request."""

    repair: str
    number: int


class Merge(_Move, frozen=True):
    """Merge the pull request at the forge, if its head is still the proven one."""


class CloseIssues(_Move, frozen=True):
    """Comment on the issues that a completed plan names, and close them."""


class CheckInvariants(_Move, frozen=True):
    """Check that a landing by pull request has left nothing behind."""


class Wait(_Move, frozen=True):
    """Wait until a time, or until the user acts."""

    reason: WaitReason
    why: str
    """The reason as text, with details."""
    until: str | None
    question: str = ""
    """Key or name of the question to answer."""
    account: str = ""
    """The agent's account whose breaker has to close."""


def until_answered(question: str) -> Wait:
    """Wait for an answer."""
    return Wait(WaitReason.ANSWER, f"approval {question}", None, question)


class End(_Move, frozen=True):
    """End the run."""

    state: str
    reason: str
    next_step: str = ""
    """What the user can do about it."""
    other: str = ""
    """An alternative to it."""


PullMove = Look | Push | Propose | Mend | Merge
"""Moves that call the forge."""
Move = (
    Start | ResolveTests | MakeWorkspace | SetUp | Baseline | Begin | Fork | Join | MergePhase | Delegate
    | ProveDelegated | Attempt | Keep | Check | Verify | Commit | Compare | Recheck | Ask | ProveTogether
    | VerifyTogether | Report | Land | Mark | Tidy | Judge | Draft | File | Post | Look | Push
    | Propose | Mend | Merge | CloseIssues | CheckInvariants | Wait | End
)  # fmt: skip
