"""Choose the next move of a run. Pure and total: the order of the rules is the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.lifecycle.facts import PASS
from asbuilt.proof.resolving import Detected, Unknown, command_of, proposal

if TYPE_CHECKING:
    from asbuilt.lifecycle.facts import AttemptFacts, PhaseFacts, RunFacts
    from asbuilt.proof.resolving import Resolved

FIX_LIMIT: Final = 2
REPEAT_LIMIT: Final = 2
"""Attempts that end without a tree to judge (a stall, a crash, a time-out) are made anew this often."""
PAUSED: Final = "paused"
"""Why a run waits that a person has paused."""


class Start(NamedTuple):
    """Look at the repository, and write down what this run is."""


class ResolveTests(NamedTuple):
    """Find out how the project is tested, once for the whole run."""


class MakeWorkspace(NamedTuple):
    """Give the run a checkout of its own."""


class SetUp(NamedTuple):
    """Prepare a checkout for checks, before any agent's code is there."""


class Baseline(NamedTuple):
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


class Commit(NamedTuple):
    """Make the outcome commit and advance the plan's branch."""

    phase: str
    number: int


class Ask(NamedTuple):
    """Put a question to a person, and wait."""

    key: str
    kind: str
    question: str
    phase: str | None = None


class ProveTogether(NamedTuple):
    """Run every check on the result as a whole."""


class Report(NamedTuple):
    """Write the account of the run."""


class Land(NamedTuple):
    """Move what is proven to the target branch; for an undo, what takes it back."""


class Mark(NamedTuple):
    """Write outcomes into the plan, with the landed hashes."""


class Tidy(NamedTuple):
    """Remove what a landed run no longer needs, where nothing is lost with it."""


class Wait(NamedTuple):
    """Nothing can be done before a time, or before somebody answers."""

    why: str
    until: str | None


class End(NamedTuple):
    """The run is over."""

    state: str
    reason: str


Move = (
    Start | ResolveTests | MakeWorkspace | SetUp | Baseline | Begin | Attempt | Keep | Check | Verify | Commit
    | Ask | ProveTogether | Report | Land | Mark | Tidy | Wait | End
)  # fmt: skip


def next_move(facts: RunFacts, now: str) -> Move:
    """Choose what a run does next; one that is to pause waits before the next move that can wait."""
    move = _unpaused(facts, now)
    return Wait(PAUSED, None) if facts.pause is not None and _can_wait(facts, move) else move


def _can_wait(facts: RunFacts, move: Move) -> bool:
    """Tell whether a move leaves nothing half done when it is made another day."""
    match move:
        case Attempt(phase=phase, number=number):
            begun = (one for one in facts.phases[phase].attempts if one.number == number)
            return all(one.ending is not None for one in begun)
        case Land():
            return facts.landing != "intended"
        case Keep() | Mark() | Tidy() | End():
            return False
        case _:
            return True


def _unpaused(facts: RunFacts, now: str) -> Move:
    """Choose what a run does next. First match wins."""
    if facts.ended is not None:
        return End(facts.ended, "")
    # A landing that was begun is brought to its end first: the target and the plan would be left apart.
    if facts.stop is not None and facts.landing != "intended" and facts.marked:
        return _unkept(facts) or End("stopped", facts.stop)
    if not facts.started:
        return _refusal(facts) or Start()
    ready = _nothing_to_do(facts) or _preparation(facts)
    return _work(facts, now) if ready is None else ready


def _unkept(facts: RunFacts) -> Keep | None:
    """Keep the files of an attempt that was ended before they could be judged."""
    phase = current(facts)
    last = phase.attempts[-1] if phase is not None and phase.attempts else None
    if phase is None or last is None or last.ending is None or last.commit is not None:
        return None
    return Keep(phase.id, last.number)


def _refusal(facts: RunFacts) -> End | None:
    """Refuse what this version cannot do, before anything is touched."""
    if facts.kind not in ("run", "land", "undo"):
        return End("failed", f"there is no kind of run that is called {facts.kind}")
    if facts.way == "pr":
        return End("failed", "landing by pull request is not built yet. Next: use cherry-pick or direct")
    if facts.way not in ("cherry-pick", "direct"):
        return End("failed", f"there is no way to land that is called {facts.way}. Next: use cherry-pick")
    if facts.way == "direct" and facts.protected:
        return End("failed", "direct lands on a branch that is protected. Next: use cherry-pick and hold")
    return None


def _nothing_to_do(facts: RunFacts) -> End | None:
    """End a run that finds everything done, before it makes anything."""
    if facts.kind == "undo":
        if facts.undoes or facts.drops:
            return None
        return End("done", f"nothing to undo: nothing that run {facts.of} has proven stands")
    if facts.works or facts.unlanded:
        return None
    if facts.kind == "land":
        return End("done", "nothing to land: everything that is proven is on the target")
    if facts.wanted is not None and facts.wanted in facts.done_before:
        return End("done", f"phase {facts.wanted} is done already")
    if facts.phases and facts.done_before >= facts.phases.keys():
        return End("done", "the plan is complete already: every phase is done")
    return None


def _preparation(facts: RunFacts) -> Move | None:
    """See to it that something can be proven before anything is built; None when it can."""
    if facts.tests is None:
        return ResolveTests()
    unsettled = _agreement(facts, facts.tests)
    if unsettled is not None:
        return unsettled
    if facts.kind == "run" and not facts.workspace:
        return MakeWorkspace()
    if facts.setup is None:
        return SetUp()
    if facts.setup != PASS:
        return End("failed", f"the setup failed, so nothing could be proven: {facts.setup_reason}")
    if facts.baseline is None:
        return Baseline()
    if facts.baseline == "NOT_RUN":
        return End(
            "failed", f"no test ran on the base, so no test can prove anything. {_way_on(facts.tests)}"
        )
    if facts.baseline != PASS:
        why = "so new failures could not be told from old"
        return End(
            "failed",
            f"the tests could not be run on the base, {why}: {facts.baseline_shown}. {_way_on(facts.tests)}",
        )
    return None


def _agreement(facts: RunFacts, tests: Resolved) -> Move | None:
    """Let a person agree to what nobody has set; where nobody is there to ask, stop and say how to set it."""
    key = proposal(tests)
    if key is None or facts.tests_agreed:
        return None
    found = ", ".join(getattr(tests, "found", ()))
    if facts.auto:
        return End("failed", f"no test command is set, and there is {found}. {_way_on(tests)}")
    if isinstance(tests, Unknown):
        question = f"go on without tests? There is {found}, and no command that runs it is known"
    elif facts.baseline is None:
        # It is tried first, so that the question can say what came of it.
        return None
    else:
        question = f"prove with `{command_of(tests)}`? {facts.baseline_shown} on {facts.branch}"
    return _asked(facts, Ask(f"{key}/{facts.run}", "tests", question), no="you said no to the tests")


def _way_on(tests: Resolved) -> str:
    command = tests.command if isinstance(tests, Detected) else "<command>"
    return f'Next: asbuilt config set checks.tests "{command}"'


def _work(facts: RunFacts, now: str) -> Move:
    if facts.kind != "run":
        return _delivery(facts)
    is_direct = facts.way == "direct" and not facts.hold
    if is_direct and (facts.pending or not facts.marked):
        return _delivery(facts)
    phase = current(facts)
    if phase is not None:
        return _between(facts, phase) or _in_phase(phase, now)
    return _after_phases(facts, is_direct=is_direct)


def current(facts: RunFacts) -> PhaseFacts | None:
    """Return the phase that this run works on now, or None when there is none left for it."""
    proven = {phase.id for phase in facts.phases.values() if phase.proven} | facts.done_before
    if facts.wanted is not None:
        wanted = facts.phases.get(facts.wanted)
        return wanted if wanted is not None and wanted.id not in proven else None
    if facts.mode == "phase" and any(phase.proven for phase in facts.phases.values()):
        return None
    begun = (phase for phase in facts.phases.values() if phase.begun and not phase.proven)
    ready = (
        phase
        for phase in facts.phases.values()
        if phase.id not in proven and all(need in proven for need in phase.needs)
    )
    return next(begun, None) or next(ready, None)


def _between(facts: RunFacts, phase: PhaseFacts) -> Move | None:
    """Ask between two phases of a finish that somebody watches."""
    if facts.auto or phase.begun or not any(other.proven for other in facts.phases.values()):
        return None
    ask = Ask(f"{facts.run}/between/{phase.id}", "continue", f"go on with phase {phase.id}?", phase.id)
    return _asked(facts, ask, no=f"you said no to phase {phase.id}")


def _asked(facts: RunFacts, ask: Ask, *, no: str) -> Move | None:
    """Ask, and wait for the answer; None once it is yes."""
    if ask.key not in facts.approvals:
        return ask
    answer = facts.approvals[ask.key]
    if answer is None:
        return Wait(f"approval {ask.key}", None)
    return None if answer == "yes" else End("stopped", no)


def _in_phase(phase: PhaseFacts, now: str) -> Move:
    if not phase.begun:
        return Begin(phase.id)
    if not phase.attempts:
        return Attempt(phase.id, 1, "implement")
    last = phase.attempts[-1]
    if last.ending is None:
        return Attempt(phase.id, last.number, last.role, _failures(phase))
    if last.ending == "limited":
        return _limited(phase, last, now)
    if last.commit is None:
        return Keep(phase.id, last.number)
    if last.ending != "done":
        if phase.repeats > REPEAT_LIMIT:
            return End(
                "failed", f"phase {phase.id}: {last.ending} {phase.repeats} times; last: {last.reason}"
            )
        return Attempt(phase.id, last.number + 1, last.role, _failures(phase))
    return _judge(phase, last, now)


def _limited(phase: PhaseFacts, last: AttemptFacts, now: str) -> Move:
    """Park until the limit opens; then the same attempt goes on, with its tree and its session."""
    if last.resets_at is not None and last.resets_at > now:
        return Wait(f"usage limit of the agent in phase {phase.id}", last.resets_at)
    return Attempt(phase.id, last.number, last.role, _failures(phase))


def _judge(phase: PhaseFacts, last: AttemptFacts, now: str) -> Move:
    if not last.changed:
        return End("failed", f"phase {phase.id}: no change was made; the agent's tree is its base")
    if last.checks is None:
        return Check(phase.id, last.number)
    if last.checks != PASS:
        return _fix(phase, last)
    if last.verdict is None:
        if last.verifier == "limited" and last.verifier_resets_at and last.verifier_resets_at > now:
            return Wait(f"usage limit of the verifier in phase {phase.id}", last.verifier_resets_at)
        return Verify(phase.id, last.number)
    return Commit(phase.id, last.number) if last.verdict == PASS else _fix(phase, last)


def _fix(phase: PhaseFacts, last: AttemptFacts) -> Move:
    if phase.fixes >= FIX_LIMIT:
        why = "; ".join(last.failures) or "not every item is proven"
        return End("failed", f"phase {phase.id} is not proven after {phase.fixes} fixes: {why}")
    return Attempt(phase.id, last.number + 1, "fix", last.failures)


def _failures(phase: PhaseFacts) -> tuple[str, ...]:
    """Return what the attempt under way has to mend: what the one before it was told, when it is a fix."""
    judged = [attempt for attempt in phase.attempts if attempt.failures]
    return judged[-1].failures if judged and phase.attempts[-1].role == "fix" else ()


def _after_phases(facts: RunFacts, *, is_direct: bool) -> Move:
    if not facts.works and not facts.unlanded:
        blocked = [phase.id for phase in facts.phases.values() if phase.id not in facts.done_before]
        return End("failed", f"no phase can start: {', '.join(blocked)} wait for phases that are not done")
    if is_direct:
        return _delivery(facts)
    if facts.together is None:
        return ProveTogether()
    if facts.together != PASS:
        return End("failed", "the phases pass one by one, and not together")
    if not facts.reported:
        return Report()
    if facts.hold:
        return End("held", "everything is proven; landing was not asked for")
    return _delivery(facts)


def _delivery(facts: RunFacts) -> Move:
    """Land what waits to be landed, write it into the plan, tidy up, and end."""
    if facts.landing == "refused":
        return End("failed", facts.landing_reason)
    if not facts.marked:
        return Mark()
    is_undo = facts.kind == "undo"
    if facts.landing != "landed" if is_undo else facts.pending:
        return Land()
    if not facts.tidied:
        return Tidy()
    return End("undone" if is_undo else "landed", "")
