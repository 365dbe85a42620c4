"""Prepare to prove: suites, setup, tests. Rule: once, on the run's base, before any agent's code exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.phases import BaselineDone, SetupDone
from asbuilt.flows.checks.project import given_suites, project_of, setup_on
from asbuilt.journal import approvals
from asbuilt.lifecycle.land_run import LandingFacts
from asbuilt.lifecycle.undo import UndoFacts
from asbuilt.lifecycle.verification import VerificationFacts
from asbuilt.proof.projects.recorded import proposal, written
from asbuilt.proof.projects.resolving import resolve

if TYPE_CHECKING:
    from asbuilt.events.event import Outcome
    from asbuilt.flows.checks.prove import Proving
    from asbuilt.flows.run.record import Record
    from asbuilt.git.repository import Repository
    from asbuilt.lifecycle.run.proving import ProvingFacts
    from asbuilt.proof.counts import Counts
    from asbuilt.proof.evidence import Evidence

_UNKNOWN: Final[Outcome] = "INDETERMINATE"
_WORST_FIRST: Final[tuple[Outcome, ...]] = (_UNKNOWN, "NOT_RUN", "FAIL")
_SHOWN: Final = 600
"""Most characters of a setup in its event; a longer one is kept whole as a blob."""


def resolve_tests(record: Record, repository: Repository, tree: str) -> None:
    """Record how the project is tested, and whether the user agreed to it before."""
    run = record.run
    resolved = resolve(given_suites(run), project_of(repository, tree), counts=run.options.counts or None)
    key = proposal(resolved)
    with record.store.read() as session:
        answered = key and approvals.last_answered(session, run.org, run.repo, under=key.under)
    agreed = answered.name if answered and answered.answer == "yes" else None
    record.prepare(written(resolved, agreed=agreed), "tests")


def set_up(record: Record, repository: Repository, proving: Proving, tree: str) -> None:
    """Prepare the check environment, or reuse a prepared one."""
    setup = setup_on(record.run, project_of(repository, tree))
    is_long = setup.command is not None and len(setup.command) > _SHOWN
    shown = proving.set_up(setup)
    why = "no setup is set" if setup.command is None else "reused from an earlier run"
    record.prepare(
        SetupDone(
            command=setup.command[:_SHOWN] if setup.command else None,
            script=record.blobs.put(setup.command.encode()) if setup.command and is_long else None,
            digest=setup.digest,
            outcome="PASS" if shown is None else shown.outcome,
            why=why if shown is None else shown.why,
            output=None if shown is None else shown.output,
            evidence=None if shown is None else record.keep([shown]),
        ),
        "setup",
    )


def run_baseline(record: Record, proving: Proving, facts: ProvingFacts) -> None:
    """Run the suites on the base; a landing or an undo reuses the baseline of the run that proved it.

    If its suites are others than those of the proof, there is no baseline: every failure counts.
    """
    suites = record.suites()
    if not suites:
        why = "No tests found; only the plan's checks will run. When the plan adds tests, set checks.tests"
        record.prepare(BaselineDone(outcome="PASS", why=why), "baseline")
        return
    proofs = _proofs_of(facts)
    if isinstance(facts, VerificationFacts) or any(record.suites(run) != suites for run in proofs):
        # The work itself is verified: no failure there is an old one.
        record.prepare(BaselineDone(outcome="PASS", why="every failure counts"), "baseline")
        return
    if proofs:
        # An undo goes back to before the first of them: the tests that they added go, too.
        proven_by = proofs[0] if isinstance(facts, UndoFacts) else proofs[-1]
        known = record.prepared(BaselineDone, "baseline", run=proven_by)
        event = BaselineDone(
            outcome="FAIL" if known.failed else "PASS",
            why=f"as of run {proven_by}",
            ran=known.ran,
            failed=known.failed,
            counts=known.counts,
        )
        record.prepare(event, "baseline")
        return
    base = {name: proving.baseline(name, suite) for name, suite in suites.items()}
    shown = [evidence for evidence, _ in base.values()]
    counts = {name: counted for name, (_, counted) in base.items()}
    outcomes = {name: _of_base(evidence, counted) for name, (evidence, counted) in base.items()}
    # The worst outcome counts: a suite that could not run outranks failures that are known by name.
    outcome: Outcome = next((result for result in _WORST_FIRST if result in outcomes.values()), "PASS")
    asks = any(
        outcomes[name] == _UNKNOWN and check.ran and not check.unusable for name, (check, _) in base.items()
    )
    record.prepare(
        BaselineDone(
            outcome=outcome,
            why="; ".join(
                (check.why if len(base) == 1 else f"{name}: {check.why}" for name, (check, _) in base.items())
            ),
            ran=sum(check.ran or 0 for check in shown)
            if any(check.ran is not None for check in shown)
            else None,
            failed=sum(check.failed or 0 for check in shown),
            took_s=round(sum(check.duration_s for check in shown), 1),
            asks=asks,
            counts=record.blobs.put_json(counts),
            evidence=record.keep(shown),
        ),
        "baseline",
    )


def _proofs_of(facts: ProvingFacts) -> list[str]:
    """Return the runs that proved what a landing moves or an undo reverts, the earliest first."""
    if isinstance(facts, UndoFacts):
        return sorted({landed.run for landed in facts.undoes})
    return [work.run for work in facts.unlanded] if isinstance(facts, LandingFacts) else []


def _of_base(shown: Evidence, counted: Counts | None) -> Outcome:
    """Judge a suite on the base: FAIL if failures are known by name, INDETERMINATE if they are not."""
    if shown.outcome == "FAIL" and counted is None:
        return _UNKNOWN
    return "FAIL" if shown.outcome == "PASS" and shown.failed else shown.outcome
