"""Prepare to prove: suites, setup, tests. Rule: once, on the run's base, before any agent's code exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from asbuilt.events.event import Outcome
from asbuilt.events.phases import BaselineDone, SetupDone, TestsResolved
from asbuilt.flows.checks.project import given_suites, project_of, ran_none, setup_on
from asbuilt.journal import approvals
from asbuilt.journal.runs import name_of
from asbuilt.lifecycle.land_run import LandingFacts
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.lifecycle.undo import UndoFacts
from asbuilt.lifecycle.verify_run import VerificationFacts
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.projects.finding import has_test_files
from asbuilt.proof.projects.model import Detected, Given, NoTests, Suite, by_name
from asbuilt.proof.projects.recorded import proposal, read_back, written
from asbuilt.proof.projects.resolving import resolve

if TYPE_CHECKING:
    from asbuilt.flows.checks.prove import Proving
    from asbuilt.flows.run.record import Record
    from asbuilt.git.repository import Repository
    from asbuilt.proof.counts import Counts

_NONE_YET: Final = "no tests yet; until the plan adds some, only its checks run"
_UNKNOWN: Final[Outcome] = "INDETERMINATE"
_WORST_FIRST: Final[tuple[Outcome, ...]] = (_UNKNOWN, "NOT_RUN", "FAIL")
_SHOWN: Final = 600
"""Most characters of a setup in its event; a longer one is kept whole as a blob."""


def resolve_tests(record: Record, repository: Repository, tree: str) -> None:
    """Record how the project is tested, and whether the user agreed to it before."""
    run = record.run
    project = project_of(repository, tree)
    resolved = resolve(given_suites(run), project, counts=run.options.counts or None)
    key = proposal(resolved)
    with record.store.read() as session:
        answered = key and approvals.last_answered(session, run.org, run.repo, under=key.under)
    agreed = answered.name if answered and answered.answer == "yes" else None
    brought = not isinstance(resolved, Given) and record.brought_tests()
    event = written(resolved, agreed=agreed, brought=brought, has_files=has_test_files(project))
    record.prepare(event, "tests")


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

    If its suites are others than those of the proof, there is no baseline: no failure is an old one.
    """
    suites, proofs = record.suites(), _proofs_of(facts)
    if not suites:
        why = "No tests found; only the plan's checks will run"
        record.prepare(BaselineDone(outcome="PASS", why=why), "baseline")
    elif proofs or isinstance(facts, VerificationFacts):
        record.prepare(_reused(record, facts, suites, proofs), "baseline")
    else:
        _run_suites(record, proving, facts, suites)


def _reused(
    record: Record, facts: ProvingFacts, suites: Mapping[str, Suite], proofs: Sequence[str]
) -> BaselineDone:
    """Return the baseline of what is already proven."""
    if proofs and _had_no_tests(record, proofs[0]):
        return BaselineDone(outcome="PASS", why="there were no tests before this plan's work", ran=0)
    if not proofs or any(record.suites(run) != suites for run in proofs):
        # The work itself is verified: no failure there is an old one.
        return BaselineDone(outcome="PASS", why="not run again: every failing test blocks")
    # An undo goes back to before the first proof: the tests that the work added go, too.
    proven_by = proofs[0] if isinstance(facts, UndoFacts) else proofs[-1]
    known = record.prepared(BaselineDone, "baseline", run=proven_by)
    return BaselineDone(
        outcome="FAIL" if known.failed else "PASS",
        why=f"reused from {_name_of(record, proven_by)}",
        ran=known.ran,
        failed=known.failed,
        counts=known.counts,
    )


def _name_of(record: Record, run: str) -> str:
    with record.store.read() as session:
        return name_of(session, record.run.org, record.run.repo, run)


def _had_no_tests(record: Record, run: str) -> bool:
    return not record.suites(run) or record.prepared(BaselineDone, "baseline", run=run).ran == 0


def _run_suites(record: Record, proving: Proving, facts: ProvingFacts, suites: Mapping[str, Suite]) -> None:
    """Run the suites on the base."""
    base = {name: proving.baseline(name, suite) for name, suite in suites.items()}
    shown = [evidence for evidence, _ in base.values()]
    if facts.checked and all(ran_none(proving.repository, check) for check in shown):
        event = BaselineDone(outcome="PASS", why=_NONE_YET, ran=0, evidence=record.keep(shown))
        record.prepare(event, "baseline")
        return
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


def prove_first_tests(record: Record, repository: Repository, proving: Proving, tree: str) -> list[Evidence]:
    """Run the tests that a run brings into a repository without any; nothing if none of them can be run."""
    if read_back(record.prepared(TestsResolved, "tests")) != NoTests():
        return []
    found = resolve(None, project_of(repository, tree), counts=record.run.options.counts or None)
    if not isinstance(found, Detected):
        return []
    return [check for check in proving.prove(tree, suites=by_name(found.suites)) if check.ran]


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
