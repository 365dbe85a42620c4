"""Perform the moves of a run of a plan's phases. Each checks whether it is done before it acts."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from asbuilt.errors import GitFailed, NotLanded
from asbuilt.events.attempts import ChecksDone, TogetherDone
from asbuilt.events.phases import PhaseBegun, WorkspaceMade
from asbuilt.flows.attempts.keep import keep
from asbuilt.flows.checks.inspect import are_compared, failing_of, inspect, keep_remarks, kept_remarks
from asbuilt.flows.checks.outside_changes import Surroundings
from asbuilt.flows.checks.prove import failures_of, outcome_of, tree_of, unusable_in
from asbuilt.flows.checks.tester_tries import repeat_tries
from asbuilt.flows.delivery import perform as delivery
from asbuilt.flows.landing.commits import attempt_of
from asbuilt.flows.plan_run.delegation import delegate, prove_delegated
from asbuilt.flows.plan_run.merging import merge_phase
from asbuilt.flows.pull_request.repairs import Ground, unresolved
from asbuilt.flows.run.approval import hold_to_approval
from asbuilt.flows.run.plan_file import Document
from asbuilt.flows.run.record import ACTOR, say
from asbuilt.flows.trials.suite import Order
from asbuilt.git.refs import base_of
from asbuilt.git.workspace import snapshots, workspaces
from asbuilt.journal import claims, issues
from asbuilt.lifecycle.plan_run.delegation import plan_in
from asbuilt.lifecycle.plan_run.lanes import will_fork
from asbuilt.lifecycle.pull_request.facts import REPAIRS
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import MERGE, WHOLE
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.reader import read
from asbuilt.proof.trials.flakiness import Flaky, remarks_on_flaky

if TYPE_CHECKING:
    from asbuilt.flows.attempts.work import Working
    from asbuilt.flows.context import Context
    from asbuilt.git.repository import Repository
    from asbuilt.lifecycle.plan_run.facts import PlanFacts
    from asbuilt.ports import Workspace


def perform(context: Context, working: Working, facts: PlanFacts, move: moves.Move) -> None:
    """Perform one move."""
    if isinstance(move, moves.Attempt | moves.Keep | moves.Check) and move.phase in REPAIRS:
        delivery.perform(context, working, facts, move)
        return
    record, repository = context.record, context.repository
    match move:
        case moves.MakeWorkspace():
            _main(context, facts)
            record.say(WorkspaceMade(lane=facts.lane), "workspace")
        case moves.Begin(phase=phase):
            _begin(context, facts, phase)
        case moves.Delegate(phase=phase):
            delegate(context, facts, phase)
        case moves.ProveDelegated(phase=phase):
            prove_delegated(context, facts, phase)
        case moves.Attempt(phase=phase, number=number):
            workspace = _main(context, facts, attempt=f"{record.run.run}.{phase}.{number}")
            around = Surroundings(record, repository, workspace)
            working.attempt(record, workspace, facts, move, around)
        case moves.Keep():
            keep(context, facts, move, _ground(facts))
        case moves.Check(phase=phase, number=number):
            _check(context, facts, phase, number)
        case moves.Verify(phase=phase, number=number):
            attempt = attempt_of(facts.phases[phase], number)
            workspace = context.workspace(f"verify-{phase}-{number}", attempt.commit or "")
            repeat = partial(repeat_tries, context, facts, move, attempt.tree or "")
            working.verify(record, repository, workspace, facts, move, repeat)
            _remove(repository, workspace)
        case moves.MergePhase():
            merge_phase(context, facts, move)
        case moves.Commit(phase=phase, number=number):
            delivery.outcomes_of(context, facts).commit(facts, _main(context, facts), phase, number)
        case moves.ProveTogether():
            _together(context, facts)
        case moves.VerifyTogether():
            workspace = context.workspace(f"verify-{WHOLE}", facts.base_now)
            working.verify_together(record, repository, workspace, facts)
            _remove(repository, workspace)
        case _:
            delivery.perform(context, working, facts, move)


def _remove(repository: Repository, workspace: Workspace) -> None:
    """Remove a verifier's workspace. If the removal fails, `clean` reports it later."""
    with suppress(NotLanded, GitFailed):
        workspaces.remove(repository, workspace)


def _ground(facts: PlanFacts) -> Ground:
    """Return where an agent works: on the proven commits, with the files of the phase's last attempt."""
    phase = facts.current
    carried = None if phase is None or will_fork(facts) else facts.carried.get(phase.id)
    return Ground(facts.lane, facts.base_now, facts.last_kept or carried)


def _main(context: Context, facts: PlanFacts, *, attempt: str = "") -> Workspace:
    """Return the run's workspace; a new one has the files that a lost worker kept of `attempt`, if any."""
    ground = _ground(facts)
    kept = snapshots.kept(context.repository, attempt) if attempt and context.record.shared else None
    return context.workspace(ground.lane, ground.base, files_of=kept or ground.files_of)


def _begin(context: Context, facts: PlanFacts, phase_id: str) -> None:
    record = context.record
    delivery.outcomes_of(context, facts).go_on(facts, _main(context, facts))
    data = Document(record, context.repository).read()
    hold_to_approval(record, data)
    run = record.run
    phase = the_phase(read(data, ui_patterns=run.options.ui or ()), phase_id)
    driven = phase.touches_ui and (run.options.tester or "off") != "off"
    begun = PhaseBegun(
        phase=phase_id,
        intent=phase.intent,
        text=record.blobs.put(data),
        delegate=plan_in(phase.delegate or "") or "",
        driven=driven,
    )
    with record.store.write() as session:
        say(session, run, begun, f"{phase_id}/begun")
        claims.set_phase(session, run.address, run=run.run, phase=phase_id)
        issues.acquire(session, run.address, run.options.issues, run=run.run, actor=ACTOR)


def _check(context: Context, facts: PlanFacts, phase_id: str, number: int) -> None:
    record, repository, proving = context.record, context.repository, context.proving(facts)
    phase = facts.phases[phase_id]
    frozen, text = record.frozen(phase.id)
    attempt = attempt_of(phase, number)
    checks = [check.command for check in frozen.checks]
    seen = inspect(record, repository, phase.id, attempt.commit or "")
    outside = kept_remarks(record, attempt.outside)
    marks = unresolved(repository, attempt.tree or "", phase.conflicts)
    failing = [*failing_of(outside, changed=attempt.changed), *seen.failing, *marks]
    base = tree_of(repository, base_of(repository, attempt.commit or ""))
    # The tests of a merged attempt were tried in its lane.
    order = Order(base, text, compared=are_compared(seen.remarks)) if attempt.role != MERGE else None
    # If the suite was tampered with, its result shows nothing.
    shown = [] if failing else proving.prove(attempt.tree or "", checks, order=order)
    by_chance = remarks_on_flaky(Flaky(*test) for one in shown for test in one.flaky)
    remarks = (*outside, *seen.after(shown), *by_chance)
    failing = [*failing_of(remarks, changed=attempt.changed), *marks]
    record.say(
        ChecksDone(
            phase=phase.id,
            number=number,
            outcome="FAIL" if failing else outcome_of(shown),
            failures=tuple(failing or failures_of(shown)),
            evidence=record.keep(shown),
            reused=tuple(one.name for one in shown if one.reused),
            inspected=seen.of,
            remarks=keep_remarks(record, remarks),
            unusable=unusable_in(shown),
        ),
        f"{phase.id}/{number}/checks{attempt.unusable or ''}",
    )


def _together(context: Context, facts: PlanFacts) -> None:
    """Run the tests and every phase's checks on all of it: a later phase may have broken an earlier one."""
    record, repository, proving = context.record, context.repository, context.proving(facts)
    tree = tree_of(repository, facts.base_now)
    frozen = [record.frozen(work.phase, run=work.run)[0] for work in facts.pending]
    checks = dict.fromkeys(check.command for phase in frozen for check in phase.checks)
    # The last phase's own checks ran on this very tree.
    known = {
        one.name: one._replace(reused=True)
        for one in record.shown()
        if one.tree == tree and one.name in checks and one.outcome == "PASS"
    }
    shown = [*proving.prove(tree, [check for check in checks if check not in known]), *known.values()]
    record.say(
        TogetherDone(
            failures=tuple(failures_of(shown)),
            outcome=outcome_of(shown),
            evidence=record.keep(shown),
            reused=tuple(one.name for one in shown if one.reused),
        ),
        "together",
    )
