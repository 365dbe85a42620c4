"""Choose the next move of a run. Pure and total: the order of the rules is the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.lifecycle.facts import GOES_ON, PASS

if TYPE_CHECKING:
    from asbuilt.lifecycle.facts import AttemptFacts, PhaseFacts, RunFacts

FIX_LIMIT: Final = 2
TROUBLE_LIMIT: Final = 10
"""A run that could not go on this often in a row, over some six hours, is given up."""
REPEAT_LIMIT: Final = 2
"""Attempts that end without a tree to judge (a stall, a crash, a time-out) are made anew this often."""


class Start(NamedTuple):
    """Look at the repository, resolve the tests, and write down what this run is."""


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


class Compare(NamedTuple):
    """Compare the plan's file with the text that the proven phases were frozen from."""

    point: str


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
    """Move what is proven to the target branch."""


class Mark(NamedTuple):
    """Write outcomes into the plan, with the landed hashes."""


class Wait(NamedTuple):
    """Nothing can be done before a time, or before somebody answers."""

    why: str
    until: str | None


class End(NamedTuple):
    """The run is over."""

    state: str
    reason: str


Move = (
    Start | MakeWorkspace | SetUp | Baseline | Begin | Attempt | Keep | Check | Verify | Commit | Compare
    | Ask | ProveTogether | Report | Land | Mark | Wait | End
)  # fmt: skip


def next_move(facts: RunFacts, now: str) -> Move:
    """Choose what a run does next. First match wins."""
    if facts.ended is not None:
        return End(facts.ended, "")
    if facts.stop is not None:
        return End("stopped", facts.stop)
    if facts.troubles:
        if facts.troubles > TROUBLE_LIMIT:
            return End("failed", f"kept from going on {facts.troubles} times; last: {facts.trouble}")
        if facts.retry_at is not None and facts.retry_at > now:
            return Wait(f"trouble: {facts.trouble}", facts.retry_at)
    if not facts.started:
        return Start()
    if not facts.workspace:
        return MakeWorkspace()
    if facts.setup is None:
        return SetUp()
    if facts.setup != PASS:
        return End("failed", "the setup of the checkout failed, so nothing could be proven")
    if facts.baseline is None:
        return Baseline()
    if facts.baseline == "NOT_RUN":
        return End("failed", "no test ran on the base, so no test can prove anything")
    if facts.baseline == "INDETERMINATE":
        return End(
            "failed", "the tests could not be run on the base: new failures could not be told from old"
        )
    differs = _promised(facts)
    if differs is not None:
        return differs
    phase = current(facts)
    if phase is not None:
        return _between(facts, phase) or _too_large(facts, phase) or _in_phase(phase, now)
    return _after_phases(facts)


def current(facts: RunFacts) -> PhaseFacts | None:
    """Return the phase that this run works on now, or None when there is none left for it."""
    proven = {phase.id for phase in facts.phases.values() if phase.proven} | facts.done_before
    if facts.wanted is not None:
        wanted = facts.phases.get(facts.wanted)
        return wanted if wanted is not None and not wanted.proven else None
    if facts.mode == "phase" and any(phase.proven for phase in facts.phases.values()):
        return None
    begun = (phase for phase in facts.phases.values() if phase.begun and not phase.proven)
    ready = (
        phase
        for phase in facts.phases.values()
        if phase.id not in proven and all(need in proven for need in phase.needs)
    )
    return next(begun, None) or next(ready, None)


def _promised(facts: RunFacts) -> Move | None:
    """See at each phase's end and before the landing that what is proven is still what the plan wants.

    The frozen text is what was built and judged. If the plan says something else by now, a person decides;
    where nobody does, nothing lands against a promise that has changed.
    """
    point = "landing" if facts.reported else str(len(facts.commits))
    if not facts.commits or facts.landing is not None:
        return None
    if facts.compared != point:
        return Compare(point)
    for phase, (_, intent) in sorted(facts.differs.items()):
        what = f"the text of phase {phase} was changed in the plan after it was frozen"
        if facts.auto:
            return End("failed", f"{what}: nothing was landed, the plan's branch keeps what is proven")
        key = f"{facts.run}/differs/{phase}/{intent or 'gone'}"
        question = f"{what}; go on with what was built?"
        answer = _answered(facts, Ask(key, "continue", question, phase), no=f"you said no: {what}")
        if answer is not None:
            return answer
    return None


def _answered(facts: RunFacts, ask: Ask, *, no: str) -> Move | None:
    """Ask, wait for the answer, and end with a no; None means yes."""
    if ask.key not in facts.approvals:
        return ask
    answer = facts.approvals[ask.key]
    if answer is None:
        return Wait(f"approval {ask.key}", None)
    return None if answer == "yes" else End("stopped", no)


def _between(facts: RunFacts, phase: PhaseFacts) -> Move | None:
    """Ask between two phases of a finish that somebody watches."""
    if facts.auto or phase.begun or not any(other.proven for other in facts.phases.values()):
        return None
    ask = Ask(f"{facts.run}/between/{phase.id}", "continue", f"go on with phase {phase.id}?", phase.id)
    return _answered(facts, ask, no=f"you said no to phase {phase.id}")


def _too_large(facts: RunFacts, phase: PhaseFacts) -> Move | None:
    """Ask a person to make room for a tree that cannot be kept as it is; its workspace stays as it is."""
    last = phase.attempts[-1] if phase.attempts else None
    if last is None or not last.refusals or last.commit is not None:
        return None
    key = f"{facts.run}/keep/{phase.id}/{last.number}/{last.refusals}"
    ask = Ask(key, "continue", f"{last.refusal} Try again?", phase.id)
    return _answered(facts, ask, no=f"phase {phase.id}: {last.refusal}")


def _in_phase(phase: PhaseFacts, now: str) -> Move:
    if not phase.begun:
        return Begin(phase.id)
    if not phase.attempts:
        return Attempt(phase.id, 1, "implement")
    last = phase.attempts[-1]
    if last.ending is None:
        return Attempt(phase.id, last.number, last.role, _failures(phase))
    if last.ending in GOES_ON:
        return _go_on(phase, last, now)
    if last.ending != "done":
        if phase.repeats > REPEAT_LIMIT:
            return End(
                "failed", f"phase {phase.id}: {last.ending} {phase.repeats} times; last: {last.reason}"
            )
        return Attempt(phase.id, last.number + 1, last.role, _failures(phase))
    return _judge(phase, last, now)


def _go_on(phase: PhaseFacts, last: AttemptFacts, now: str) -> Move:
    """Park until a limit opens; then the same attempt goes on, with its tree and its session."""
    if last.resets_at is not None and last.resets_at > now:
        return Wait(f"usage limit of the agent in phase {phase.id}", last.resets_at)
    return Attempt(phase.id, last.number, last.role, _failures(phase))


def _judge(phase: PhaseFacts, last: AttemptFacts, now: str) -> Move:
    if last.commit is None:
        return Keep(phase.id, last.number)
    if not last.changed:
        return End("failed", f"phase {phase.id}: no change was made; the agent's tree is its base")
    if last.checks is None:
        return Check(phase.id, last.number)
    if last.checks != PASS:
        return _fix(phase, last)
    if last.verdict is None:
        return _verify(phase, last, now)
    return Commit(phase.id, last.number) if last.verdict == PASS else _fix(phase, last)


def _verify(phase: PhaseFacts, last: AttemptFacts, now: str) -> Move:
    """Let it be judged; a verifier that is lost has judged nothing, so another one does."""
    if last.verifier_resets_at is not None and last.verifier_resets_at > now:
        return Wait(f"usage limit of the verifier in phase {phase.id}", last.verifier_resets_at)
    if last.lost_verifiers > REPEAT_LIMIT:
        return End(
            "failed",
            f"phase {phase.id}: the verifier {last.verifier} {last.lost_verifiers} times;"
            f" last: {last.verifier_reason}",
        )
    return Verify(phase.id, last.number)


def _fix(phase: PhaseFacts, last: AttemptFacts) -> Move:
    if phase.fixes >= FIX_LIMIT:
        why = "; ".join(last.failures) or "not every item is proven"
        return End("failed", f"phase {phase.id} is not proven after {phase.fixes} fixes: {why}")
    return Attempt(phase.id, last.number + 1, "fix", last.failures)


def _failures(phase: PhaseFacts) -> tuple[str, ...]:
    """Return what the attempt under way has to mend: what the one before it was told, when it is a fix."""
    judged = [attempt for attempt in phase.attempts if attempt.failures]
    return judged[-1].failures if judged and phase.attempts[-1].role == "fix" else ()


def _after_phases(facts: RunFacts) -> Move:
    if not any(phase.proven for phase in facts.phases.values()):
        blocked = [phase.id for phase in facts.phases.values() if phase.id not in facts.done_before]
        if not blocked:
            return End("done", "every phase is done already")
        return End("failed", f"no phase can start: {', '.join(blocked)} wait for phases that are not done")
    if facts.together is None:
        return ProveTogether()
    if facts.together != PASS:
        return End("failed", "the phases pass one by one, and not together")
    if not facts.reported:
        return Report()
    if facts.hold:
        return End("held", "everything is proven; landing was not asked for")
    if facts.landing in (None, "intended"):
        return Land()
    if facts.landing == "refused":
        return End("failed", facts.landing_reason)
    return End("landed", "") if facts.marked else Mark()
