"""What a run can do next. A closed set: whoever matches over it is told by the type checker of a new one."""

from __future__ import annotations

from typing import NamedTuple

from asbuilt.events.runs import WaitReason


class _Bare(NamedTuple):
    """A move that says nothing more: defined once, since each named tuple is made by code of its own."""


class Start(_Bare):
    """Look at the repository, and write down what this run is."""


class ResolveTests(_Bare):
    """Find out how the project is tested, once for the whole run."""


class MakeWorkspace(_Bare):
    """Give the run a checkout of its own."""


class SetUp(_Bare):
    """Prepare a checkout for checks, before any agent's code is there."""


class Baseline(_Bare):
    """Run the tests on the base, so that old failures can be told from new ones."""


class Begin(NamedTuple):
    """Freeze a phase's text and intent."""

    phase: str


class Attempt(NamedTuple):
    """Let an agent work; going on with one that was begun is the same move."""

    phase: str
    number: int
    role: str
    failures: tuple[str, ...] = ()


class Keep(NamedTuple):
    """Put the attempt's tree under a ref before anything else touches it."""

    phase: str
    number: int


class Check(NamedTuple):
    """Run the tests and the phase's own checks on a clean checkout of the tree."""

    phase: str
    number: int


class Verify(NamedTuple):
    """Let another agent judge every item, in a read-only workspace."""

    phase: str
    number: int


class Compare(NamedTuple):
    """Compare the plan's file with the text that the proven phases were frozen from."""

    point: str


class Commit(NamedTuple):
    """Make the outcome commit and advance the plan's branch."""

    phase: str
    number: int


class Recheck(NamedTuple):
    """Run the tests and the checks of a phase again, on what stands now."""

    phase: str


class Ask(NamedTuple):
    """Put a question to a person, and wait."""

    key: str
    kind: str
    question: str
    phase: str | None = None
    intent: str | None = None
    """What a yes binds."""


class ProveTogether(_Bare):
    """Run every check on the result as a whole."""


class VerifyTogether(_Bare):
    """Let another agent judge all phases once more, for what only shows when everything is there."""


class Report(_Bare):
    """Write the account of the run."""


class Land(_Bare):
    """Move what is proven to the target branch; for an undo, what takes it back."""


class Mark(_Bare):
    """Write outcomes into the plan, with the landed hashes."""


class Tidy(_Bare):
    """Remove what a landed run no longer needs, where nothing is lost with it."""


class Judge(NamedTuple):
    """Judge what an agent handed in for a stage of authoring."""

    stage: str
    number: int


class Draft(_Bare):
    """Write down the plan that the stages have brought, as a revision of the draft."""


class Post(_Bare):
    """Write into the ledger what has come of a task: status and artifact, and that nothing is pending."""


class File(_Bare):
    """Put the plan that a person approved into the checkout."""


class Look(_Bare):
    """Ask the forge how the plan's pull request stands."""


class Push(_Bare):
    """Put what is proven onto the pull request's branch, built and proven on the target of now."""


class Propose(_Bare):
    """Open the pull request, or find it, and say in it how far the plan is."""


class Mend(NamedTuple):
    """Take over what an agent has mended of a pull request, once it is proven."""

    repair: str
    number: int


class Merge(_Bare):
    """Let the forge merge the pull request, if it is still what was proven."""


class CloseIssues(_Bare):
    """Tell the issues that a plan names what has landed, and close them."""


class CheckInvariants(_Bare):
    """See that a landing by pull request has left nothing behind."""


class Wait(NamedTuple):
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


class End(NamedTuple):
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
