"""Requests of users, written for the worker. Rule: nothing is performed here.

A command writes rows and exits; the worker finds them even if the command is killed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import UNSET, structs

from asbuilt.errors import GateStopped, NotFound
from asbuilt.events.approvals import ApprovalPutOff
from asbuilt.events.options import RunOptions
from asbuilt.events.plans import PlanNoted
from asbuilt.events.runs import PauseAsked, ResumeAsked, RunHastened, SettingsChanged, StopAsked, reason_words
from asbuilt.flows.run import environment
from asbuilt.flows.run.record import append_event
from asbuilt.flows.run_end import end
from asbuilt.journal import approvals, claims, drafts, issue_claims, runs
from asbuilt.journal.approvals import Answer, Approval
from asbuilt.journal.claims import Claim
from asbuilt.journal.engine import fleet
from asbuilt.journal.engine.workers import machine_id
from asbuilt.journal.events import append, hold, open_plan, shortened
from asbuilt.journal.ids import Address, new_id
from asbuilt.journal.queues import account_breakers
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.approval import may_answer
from asbuilt.plan.reader import read
from asbuilt.settings.layers import Settings
from asbuilt.settings.running import Change, differing, renewed

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session, Store, Transactions

_VALUE: Final = 700
"""Most bytes of a value in an event."""


class Asker(NamedTuple):
    """The user, machine and environment of a request."""

    actor: str
    host: str
    environ: Mapping[str, str]


class Declined(NamedTuple):
    """Another run has claimed the plan; nothing was started."""

    claim: Claim
    holder: Run | None


def request(
    store: Store, rooms: Path, address: Address, *, slug: str, options: RunOptions, asker: Asker
) -> Run | Declined:
    """Request a run. The plan is claimed in the same transaction, so one of two requests is declined.

    `rooms` has the runs' folders: the part of the asker's environment that the run may see is kept there.
    """
    run = new_id()
    if options.fleet is UNSET:
        # A worker of the fleet has an environment of its own.
        environment.keep(rooms / run, asker.environ, kinds_in(options), options=options)
    place = machine_id() if store.is_shared else None
    with store.write() as session:
        return enter(session, address, run=run, slug=slug, options=options, asker=asker, place=place)


def enter(  # noqa: PLR0913 - a run has these parts
    session: Session,
    address: Address,
    *,
    run: str,
    slug: str,
    options: RunOptions,
    asker: Asker,
    place: str | None = None,
) -> Run | Declined:
    """Claim a plan for a run and record the run, for a user or a schedule; `place` is the asking machine."""
    open_plan(session, address, slug)
    options = structs.replace(options, revision=UNSET)
    taken = claims.acquire(session, address, run=run, mode=options.mode, host=asker.host, actor=asker.actor)
    if taken.answer is not claims.Answer.YOURS:
        return Declined(taken.claim, runs.find(session, address.org, address.repo, taken.claim.run))
    before = runs.of_plan(session, address, limit=1)
    requested = runs.request(
        session, address, run=run, slug=slug, options=options, actor=asker.actor, place=place
    )
    for other_run in before:
        _record_changes(session, requested, differing(other_run.options, options), asker)
    return requested


def holder_of(session: Session, address: Address) -> Declined | None:
    """Return the claim on a plan, so that no questions are asked about a run that would be declined."""
    claim = claims.find(session, address)
    return (
        None if claim is None else Declined(claim, runs.find(session, address.org, address.repo, claim.run))
    )


def kinds_in(options: RunOptions) -> set[str]:
    """Return the kinds of a run's agents: each may see the variables that it needs to sign in."""
    return {member.program.kind for member in options.agents.values()}


def stop(store: Store, run: Run, *, reason: str, asker: Asker) -> bool:
    """Request that a run stop at once and keep its work; False if it is over already.

    Runs of the plans that its phases are delegated to stop with it, even if a repeated request finds it over.
    """
    with store.write() as session:
        asked = _stop(session, run, reason=reason, asker=asker)
    with store.read() as session:
        others = runs.open_of(session, run.org, run.repo)
    for other in others:
        if other.options.parent and other.options.parent.run == run.run:
            stop(
                store,
                other,
                reason=f"{run.name}, which delegated it, was stopped: {reason_words(reason)}",
                asker=asker,
            )
    return asked


def take_away(session: Session, address: Address, *, reason: str, asker: Asker) -> Claim | None:
    """Break the claim on a plan and stop its run, which would otherwise work beside the next claimant."""
    hold(session, address)
    held = claims.break_(session, address, reason=reason, actor=asker.actor)
    issue_claims.release(session, address)
    run = None if held is None else runs.find(session, address.org, address.repo, held.run)
    if run is not None:
        _stop(session, run, reason=f"its claim was broken: {reason}", asker=asker)
    return held


def _stop(session: Session, run: Run, *, reason: str, asker: Asker) -> bool:
    hold(session, run.address)
    asked = runs.ask_to_stop(session, run.org, run.repo, run.run, reason=reason)
    if asked:
        append_event(session, run, StopAsked(reason=reason[:500]), "stop", actor=asker.actor)
        if fleet.withdraw(session, run):
            # No worker may ever have its labels.
            end(session, run, "stopped", reason)
        else:
            runs.wake(session, run.org, run.repo, run.run)
    return asked


def pause(store: Store, run: Run, *, reason: str, asker: Asker) -> bool:
    """Request a pause at the next safe point; False if the run is over or a pause is open."""
    with store.write() as session:
        hold(session, run.address)
        found = runs.find(session, run.org, run.repo, run.run)
        pauses = runs.pauses(session, run)
        if found is None or found.is_over or pauses.is_open:
            return False
        append_event(
            session, run, PauseAsked(reason=reason[:500]), f"pause/{pauses.asked + 1}", actor=asker.actor
        )
        runs.wake(session, run.org, run.repo, run.run)
    return True


def _record_changes(session: Session, run: Run, changes: Sequence[Change], asker: Asker) -> None:
    """Record which settings of a run differ from the plan's last run, or from its own earlier ones."""
    revision = run.options.revision or 0
    for file in changes:
        append_event(
            session,
            run,
            SettingsChanged(
                key=file.key, before=_in_event(file.before), after=_in_event(file.after), revision=revision
            ),
            f"settings/{revision}/{file.key}",
            actor=asker.actor,
        )


def _in_event(value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, bool | int | float | None) else shortened(text, _VALUE)


def renew(store: Store, run: Run, settings: Settings, *, asker: Asker) -> None:
    """Apply the current settings to a run that is not over; each difference is an event."""
    with store.write() as session:
        hold(session, run.address)
        found = runs.find(session, run.org, run.repo, run.run)
        if found is None or found.is_over:
            return
        options, changes = renewed(found.options, settings)
        if changes:
            options = structs.replace(options, revision=(found.options.revision or 0) + 1)
            runs.set_options(session, found, options)
            _record_changes(session, found._replace(options=options), changes, asker)


def resume(store: Store, run: Run, *, asker: Asker) -> bool:
    """End a run's pause, and make what it waits for due now; False if it waits for nothing."""
    with store.write() as session:
        hold(session, run.address)
        pauses = runs.pauses(session, run)
        account_breakers.retry(session, run)
        moved = runs.wake(session, run.org, run.repo, run.run)
        found = runs.find(session, run.org, run.repo, run.run)
        if moved and found is not None and found.state == "waiting":
            # A command that follows the run stops when the state is still "waiting".
            runs.set_state(session, found, "running")
        if pauses.is_open:
            append_event(session, run, ResumeAsked(), f"resume/{pauses.asked}", actor=asker.actor)
        elif moved:
            append_event(session, run, RunHastened(), f"hastened/{moved[0].n}", actor=asker.actor)
    return bool(moved) or pauses.is_open


def note(store: Store, address: Address, slug: str, *, text: str, asker: Asker) -> None:
    """Leave a note for the plan's next attempt, in any run."""
    with store.write() as session:
        open_plan(session, address, slug)
        hold(session, address)
        noted = PlanNoted(note=text, by=asker.actor)
        append(session, address, noted, key=f"note/{new_id()}", actor=asker.actor)


def answer(  # noqa: PLR0913 - an answer has these parts
    store: Transactions,
    org: str,
    repo: str,
    number: int,
    *,
    reply: Answer,
    note: str | None,
    asker: Asker,
    approvers: Sequence[str] = (),
) -> tuple[bool, Approval]:
    """Answer a question and wake the run that asked it: (whether this answer counts, the question).

    Only `approvers`, or those that the authoring's options name, may answer about a plan. A yes records the
    text that it covers in the same transaction.
    """
    with store.write() as session:
        asked = _asked(session, org, repo, number)
        address = Address(org, repo, asked.plan)
        if asked.kind == "plan":
            _may_approve(session, address, asked, approvers, asker)
            drafts.overtake(session, address)
        counts, found = approvals.answer(
            session, org, repo, number, reply=reply, actor=asker.actor, note=note
        )
        if counts:
            if asked.kind == "plan" and reply == "yes":
                drafts.approve(session, address, number, actor=asker.actor)
            elif asked.kind == "sign-off" and reply == "no":
                # The attempt that replaces the change has to know it.
                text = f"the user declined to {asked.question}" + (f": {note}" if note else "")
                noted = PlanNoted(note=text, by=asker.actor)
                append(session, address, noted, key=f"{asked.key}/declined", actor=asker.actor)
            runs.wake(session, org, repo, asked.run)
    return counts, found or asked


def revise(  # noqa: PLR0913 - an answer has these parts
    store: Store,
    blobs: Blobs,
    org: str,
    repo: str,
    number: int,
    *,
    data: bytes,
    asker: Asker,
    approvers: Sequence[str] = (),
) -> tuple[bool, Approval]:
    """Replace a draft with a user's text: (True, its question), or (False, the question) if it changed."""
    plan, text = read(data), blobs.put(data)
    with store.write() as session:
        asked = _asked(session, org, repo, number)
        address = Address(org, repo, asked.plan)
        drafts.overtake(session, address)
        asked = _asked(session, org, repo, number)
        if asked.answer is not None:
            return False, asked
        _may_approve(session, address, asked, approvers, asker)
        written = drafts.write(session, address, plan, run=asked.run, by=asker.actor, text=text)
        return True, drafts.ask(session, address, written, title=plan.title, actor=asker.actor)


def decline(store: Store, run: Run, *, note: str, asker: Asker) -> None:
    """Record that a user declined to land what a run has proven; the plan's work is kept."""
    with store.write() as session:
        runs.decline(session, run, note=shortened(note, _VALUE), actor=asker.actor)


def put_off(store: Store, org: str, repo: str, number: int, *, asker: Asker) -> Approval:
    """Record that a user has seen a question and leaves it open."""
    with store.write() as session:
        asked = _asked(session, org, repo, number)
        if asked.answer is None:
            append(
                session,
                Address(org, repo, asked.plan),
                ApprovalPutOff(number=number, by=asker.actor),
                key=f"{asked.key}/later/{asker.actor}",
                actor=asker.actor,
                run=asked.run,
            )
    return asked


def _asked(session: Session, org: str, repo: str, number: int) -> Approval:
    found = approvals.named(session, org, repo, number)
    if found is None:
        raise NotFound(
            f"there is no question a{number} here",
            why="Questions are numbered in each repository.",
            next_step="`asbuilt approve` lists what waits for you.",
        )
    return found


def _may_approve(
    session: Session, address: Address, asked: Approval, approvers: Sequence[str], asker: Asker
) -> None:
    """Refuse users who are not named; names frozen into the authoring apply on every machine."""
    run = runs.find(session, address.org, address.repo, asked.run)
    names = (run.options.approvers if run else None) or approvers
    if not may_answer(names, asker.actor):
        raise GateStopped(
            f"{asked.name} is not yours to answer: {', '.join(names)} may approve plans here",
            why="approvals.plan lists them, and landed commits name the approver.",
            next_step="`asbuilt approve` lists what waits; one of them has to answer.",
        )
