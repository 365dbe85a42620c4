"""Delegate a phase to another plan: a run of its own, whose result is proven on the target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from asbuilt.errors import GateStopped
from asbuilt.events.options import Parent
from asbuilt.events.phases import PhaseDelegated, PhaseProven, PhaseReturned
from asbuilt.flows.checks.prove import failures_of, outcome_of, tree_of
from asbuilt.flows.requests import Asker, Declined, enter
from asbuilt.flows.run import environment
from asbuilt.flows.run.record import ACTOR, say
from asbuilt.git import commits
from asbuilt.git.repository import plan_branch, tip
from asbuilt.journal.ids import Address, new_id
from asbuilt.library.reading import read_bytes
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.flows.context import Context
    from asbuilt.lifecycle.plan_run.facts import PlanFacts


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
        say(session, run, PhaseDelegated(phase=phase, plan=plan), f"{phase}/delegated")


def _text(context: Context, plan: str) -> bytes:
    """Return the text of another plan: in the checkout, or on the target of a run of the fleet."""
    options = context.record.run.options
    if options.fleet is UNSET:
        return read_bytes(Path(options.checkout) / plan, name=plan)
    named = f"refs/heads/{options.branch}:{plan}"
    said = context.repository.git.said("cat-file", "blob", named, allowed=(0, 128))
    if said.code:
        raise GateStopped(
            f"{plan} is not on {options.branch} of the remote",
            why="A run of the fleet reads the plan that a phase is delegated to there.",
            next_step=f"Commit and push {plan}, then run again.",
        )
    return said.out


def prove_delegated(context: Context, facts: PlanFacts, phase: str) -> None:
    """Prove a delegated phase on the target's current commit, and record its outcome as an empty commit."""
    record, repository, options = context.record, context.repository, context.record.run.options
    target = tip(repository, f"refs/heads/{options.branch}") or ""
    frozen, _ = record.frozen(phase)
    tree = tree_of(repository, target)
    shown = context.proving(facts).prove(tree, [check.command for check in frozen.checks])
    if outcome_of(shown) != "PASS":
        why = f"On {options.branch} at {target[:10]}: {'; '.join(failures_of(shown))}"[:900]
        record.say(PhaseReturned(phase=phase, state="unproven", reason=why), f"{phase}/unproven")
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
    record.say(PhaseProven(phase=phase, commit=commit), f"{phase}/proven")
