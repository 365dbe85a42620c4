"""Perform the moves of a run of a plan's phases. Each checks whether it is done before it acts."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from asbuilt.errors import GateStopped, GitFailed, NotLanded
from asbuilt.events.attempts import ChecksDone, TogetherDone
from asbuilt.events.options import Parent
from asbuilt.events.phases import (
    PhaseBegun,
    PhaseDelegated,
    PhaseMerged,
    PhaseProven,
    PhaseReturned,
    WorkspaceMade,
)
from asbuilt.flows.attempts.snapshot import keep
from asbuilt.flows.checks.change_inspection import Before, are_compared, failing_of, inspect, kept_remarks
from asbuilt.flows.checks.missing_programs import without_programs
from asbuilt.flows.checks.outcomes import failures_of, outcome_of, unusable_in
from asbuilt.flows.checks.outside_changes import Surroundings
from asbuilt.flows.checks.pictures import repeat_tries
from asbuilt.flows.checks.preflight import prove_first_tests
from asbuilt.flows.checks.prove import tree_of
from asbuilt.flows.delivery import perform as delivery
from asbuilt.flows.landing.commits import attempt_of
from asbuilt.flows.pull_request.repairs import Ground, unresolved
from asbuilt.flows.requests import Asker, Declined, enter
from asbuilt.flows.run import environment
from asbuilt.flows.run.approval import hold_to_approval
from asbuilt.flows.run.plan_file import Document
from asbuilt.flows.run.record import ACTOR, Record, append_event
from asbuilt.flows.trials.suite import Order
from asbuilt.git import commits, locks
from asbuilt.git.landing import candidates
from asbuilt.git.refs import base_of
from asbuilt.git.repository import Repository, plan_branch, tip
from asbuilt.git.workspace import snapshots, workspaces
from asbuilt.git.workspace.snapshots import ATTEMPTS
from asbuilt.journal import approvals, claims, issue_claims
from asbuilt.journal.ids import Address, new_id
from asbuilt.library.bounded_read import read_bytes
from asbuilt.lifecycle.plan_run.doubts_before_work import plan_in
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.plan_run.lanes import will_fork
from asbuilt.lifecycle.pull_request.facts import REPAIRS
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import MERGE, WHOLE
from asbuilt.lifecycle.run.moves import MergePhase
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.model import Phase
from asbuilt.plan.reader import read
from asbuilt.ports import Workspace
from asbuilt.proof.trials.flakiness import Flaky, remarks_on_flaky

if TYPE_CHECKING:
    from asbuilt.flows.attempts.work import Working
    from asbuilt.flows.context import Context


def perform(context: Context, working: Working, facts: PlanFacts, move: moves.Move) -> None:
    """Perform one move."""
    if isinstance(move, moves.Attempt | moves.Keep | moves.Check) and move.phase in REPAIRS:
        delivery.perform(context, working, facts, move)
        return
    record, repository = context.record, context.repository
    match move:
        case moves.MakeWorkspace():
            _main(context, facts)
            record.append(WorkspaceMade(lane=facts.lane), "workspace")
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
        edited=_is_edited(record, facts, phase),
    )
    with record.store.write() as session:
        append_event(session, run, begun, f"{phase_id}/begun")
        approvals.withdraw_settled(
            session, run.address, run=run.run, phase=phase_id, intent=phase.intent, actor=ACTOR
        )
        claims.set_phase(session, run.address, run=run.run, phase=phase_id)
        issue_claims.acquire(session, run.address, run.options.issues, run=run.run, actor=ACTOR)


def _is_edited(record: Record, facts: PlanFacts, phase: Phase) -> bool:
    """Return whether a phase differs from the plan as it was when the run's first phase started."""
    first = next((phase_facts.id for phase_facts in facts.phases.values() if phase_facts.begun), None)
    if first is None:
        return False
    earlier = record.frozen_plan(first).phases
    return phase.intent not in [plan_phase.intent for plan_phase in earlier if plan_phase.id == phase.id]


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
    commit = base_of(repository, attempt.commit or "")
    earlier = Before(record, repository, (*facts.unlanded, *facts.works), commit)
    # If the suite was tampered with, its result shows nothing.
    # The tests of a merged attempt were tried in its lane, and what was remarked there still holds.
    is_merged = attempt.role == MERGE
    known = kept_remarks(record, attempt.remarks) if is_merged else ()
    order = Order(tree_of(repository, commit), text, are_compared(seen.remarks), was_tried=is_merged)
    if not is_merged:
        order = order._replace(earlier=earlier.starts, landed=earlier.landed)
    shown = [] if failing else proving.prove(attempt.tree or "", checks, order=order)
    shown = without_programs(record, proving, shown, base=order.base, text=text)
    by_chance = remarks_on_flaky(Flaky(*test) for evidence in shown for test in evidence.flaky)
    found = seen.after(shown, earlier.orders(shown), was_tried=is_merged)
    remarks = tuple(dict.fromkeys((*outside, *found, *by_chance, *known)))
    failing = [*failing_of(remarks, changed=attempt.changed), *marks]
    record.append(
        ChecksDone(
            phase=phase.id,
            number=number,
            outcome="FAIL" if failing else outcome_of(shown),
            failures=tuple(failing or failures_of(shown)),
            evidence=record.keep(shown),
            reused=tuple(evidence.name for evidence in shown if evidence.reused),
            inspected=seen.of,
            remarks=record.keep(remarks),
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
        evidence.name: evidence._replace(reused=True)
        for evidence in record.shown()
        if evidence.tree == tree and evidence.name in checks and evidence.outcome == "PASS"
    }
    shown = [*proving.prove(tree, [check for check in checks if check not in known]), *known.values()]
    shown += prove_first_tests(record, repository, proving, tree)
    failing = {evidence.name for evidence in shown if evidence.outcome != "PASS"}
    broken = (phase.id for phase in frozen if any(check.command in failing for check in phase.checks))
    record.append(
        TogetherDone(
            failures=tuple(failures_of(shown)),
            outcome=outcome_of(shown),
            evidence=record.keep(shown),
            reused=tuple(evidence.name for evidence in shown if evidence.reused),
            broken=tuple(dict.fromkeys(broken)),
        ),
        "together",
    )


def merge_phase(context: Context, facts: PlanFacts, move: MergePhase) -> None:
    """Merge a phase onto the tip of the plan's branch, and keep the result as its next attempt."""
    record, repository, onto = context.record, context.repository, facts.base_now
    lane, proven = facts.lanes[move.phase], attempt_of(facts.phases[move.phase], move.of)
    tree, conflicts = candidates.merge_trees(
        repository, base=lane.base, ours=onto, theirs=proven.commit or ""
    )
    name = f"{record.run.run}.{move.phase}.{move.number}"
    commit = commits.commit_tree(
        repository, tree, parents=(onto,), author=record.author(), message=f"Attempt {name}\n".encode()
    )
    record.hold()
    if tip(repository, f"{ATTEMPTS}{name}") is None:
        locks.set_ref(repository, f"{ATTEMPTS}{name}", new=commit, old=None)
    merged = PhaseMerged(
        phase=move.phase,
        number=move.number,
        of=move.of,
        base=onto,
        commit=commit,
        tree=tree,
        conflicts=conflicts,
        failures=_failures(facts, lane.base, conflicts),
    )
    record.append(merged, f"{move.phase}/{move.number}/merged")


def _failures(facts: PlanFacts, base: str, conflicts: tuple[str, ...]) -> tuple[str, ...]:
    """Tell the agent of a conflict which phases are on the other side, and where both sides are."""
    known = [work.commit for work in facts.works]
    since = facts.works[known.index(base) + 1 if base in known else 0 :]
    others = ", ".join(f"phase {work.phase} ({facts.phases[work.phase].title})" for work in since)
    return tuple(
        f"{path}: conflicts with {others}, which is proven. The file has both sides between conflict"
        " markers: keep what both phases need, and remove the markers."
        for path in conflicts
    )


def delegate(context: Context, facts: PlanFacts, phase: str) -> None:
    """Request a run of the plan that a phase is delegated to, with the options of this run."""
    record, run, plan = context.record, context.record.run, facts.phases[phase].delegate
    data = _text(context, plan)
    order, checkout = run.options.fleet, run.options.checkout
    if order is not UNSET:
        # The checkout of a run of the fleet is this worker's mirror, and another worker may take the new run.
        order, checkout = structs.replace(order, plan=record.blobs.put(data)), ""
    options = structs.replace(
        run.options, fleet=order, checkout=checkout, slug=Path(plan).stem, mode="finish", phase=None,
        issues=tuple(read(data).issues), continues=UNSET,
        parent=Parent(plan=run.plan, run=run.run, phase=phase),
    )  # fmt: skip
    other = new_id()
    environment.hand_on(context.room, context.home.runs / other)
    with record.store.write() as session:
        address, asker = Address(run.org, run.repo, plan), Asker(ACTOR, run.options.host, {})
        entered = enter(session, address, run=other, slug=options.slug, options=options, asker=asker)
        if isinstance(entered, Declined):
            raise GateStopped(
                f"phase {phase} is delegated to {plan}, which another run has claimed",
                why="One run works on a plan at a time.",
                next_step=f"`asbuilt status {options.slug}` shows that run; run again when it has ended.",
            )
        append_event(session, run, PhaseDelegated(phase=phase, plan=plan), f"{phase}/delegated")


def _text(context: Context, plan: str) -> bytes:
    """Return the text of another plan: in the checkout, or on the target of a run of the fleet."""
    options = context.record.run.options
    if options.fleet is UNSET:
        return read_bytes(Path(options.checkout) / plan, name=plan)
    named = f"refs/heads/{options.branch}:{plan}"
    result = context.repository.git.run("cat-file", "blob", named, allowed=(0, 128))
    if result.code:
        raise GateStopped(
            f"{plan} is not on {options.branch} of the remote",
            why="A run of the fleet reads the plan that a phase is delegated to there.",
            next_step=f"Commit {plan}, then: `git push origin {options.branch}`",
        )
    return result.out


def prove_delegated(context: Context, facts: PlanFacts, phase: str) -> None:
    """Prove a delegated phase on the target's current commit, and record its outcome as an empty commit."""
    record, repository, options = context.record, context.repository, context.record.run.options
    target = tip(repository, f"refs/heads/{options.branch}") or ""
    frozen, _ = record.frozen(phase)
    tree = tree_of(repository, target)
    shown = context.proving(facts).prove(tree, [check.command for check in frozen.checks])
    if outcome_of(shown) != "PASS":
        why = f"On {options.branch} at {target[:10]}: {'; '.join(failures_of(shown))}"[:900]
        record.append(PhaseReturned(phase=phase, state="unproven", reason=why), f"{phase}/unproven")
        return
    message = commits.message_for(
        frozen.title,
        f"Done by {facts.phases[phase].delegate}.",
        Asbuilt_Run=record.run.run,
        Asbuilt_Phase=phase,
    )
    commit = commits.commit_tree(repository, tree, parents=(target,), author=record.author(), message=message)
    record.hold()
    old = facts.works[-1].commit if facts.works else facts.branch_at
    commits.advance(repository, plan_branch(repository, options.slug), new=commit, old=old)
    record.end_work(PhaseProven(phase=phase, commit=commit), f"{phase}/proven", (phase,))
