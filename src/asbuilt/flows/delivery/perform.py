"""Perform the moves between proof and landing, for every run that lands or takes back proven work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from asbuilt.errors import NotFound, PlanUnreadable
from asbuilt.events.phases import PhaseBegun
from asbuilt.events.plans import PlanCompared, PlanDiffers
from asbuilt.events.runs import ReportWritten
from asbuilt.flows import proving
from asbuilt.flows.attempts.snapshot import keep
from asbuilt.flows.checks.outside_changes import Surroundings
from asbuilt.flows.checks.pictures import seen_by_people, take_pictures
from asbuilt.flows.delivery.issues import close_issues
from asbuilt.flows.landing.commits import Outcomes
from asbuilt.flows.landing.sign_offs import is_declined, sign_offs, unsigned
from asbuilt.flows.landing.tidy import tidy
from asbuilt.flows.pull_request.branch import drop_pushed
from asbuilt.flows.pull_request.invariants import check_invariants
from asbuilt.flows.pull_request.land import Pulls
from asbuilt.flows.pull_request.repairs import check_repair, ground_of
from asbuilt.flows.report import report
from asbuilt.flows.run.plan_file import Document
from asbuilt.flows.run.record import Record, append_event
from asbuilt.git.repository import Repository
from asbuilt.journal import approvals
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.delivery.next_move import LANDING
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.undo import UndoFacts
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.flows.attempts.work import Working
    from asbuilt.flows.context import Context


def perform(context: Context, working: Working, facts: DeliveryFacts, move: moves.Move) -> None:
    """Perform one move."""
    if facts.way == "pr" and not isinstance(facts, UndoFacts):
        _by_pull_request(context, working, facts, move)
    else:
        _perform(context, facts, move)


def outcomes_of(context: Context, facts: DeliveryFacts) -> Outcomes:
    """Return what makes the commits of a run."""
    return Outcomes(context.record, context.repository, context.proving(facts), context.room)


def _perform(context: Context, facts: DeliveryFacts, move: moves.Move) -> None:
    match move:
        case moves.Compare(point=point):
            _compare(context, facts, point)
        case moves.Report():
            context.record.append(ReportWritten(report=report(context.record, facts, context.home)), "report")
        case moves.Land():
            outcomes_of(context, facts).land(facts)
        case moves.Mark():
            outcomes_of(context, facts).mark(facts)
        case moves.CloseIssues():
            close_issues(context, facts)
        case moves.Tidy():
            tidy(context.record, context.repository, facts, context.workspaces)
        case _:
            proving.perform(context, facts, move)


def _by_pull_request(context: Context, working: Working, facts: DeliveryFacts, move: moves.Move) -> None:
    record, repository = context.record, context.repository
    match move:
        case moves.Start():
            # The target's tip is the forge's; an undo takes back what is here.
            pushed = context.forge().fetch(record.run.options.branch)
            proving.perform(context, facts, move, pushed=pushed)
        case moves.Land():
            _pulls(context, facts).land(facts)
        case moves.Tidy():
            pulls = _pulls(context, facts)
            drop_pushed(record, repository, pulls.forge, pulls.known().heads)
            tidy(record, repository, facts, context.workspaces)
        case moves.CheckInvariants():
            check_invariants(record, repository, context.forge(), facts, context.workspaces)
        case moves.Look() | moves.Push() | moves.Propose() | moves.Mend() | moves.Merge():
            _pulls(context, facts).perform(facts, move)
        case moves.Attempt(phase=repair, number=number):
            ground = ground_of(record, repository, facts, repair, number)
            workspace = context.workspace(ground.lane, ground.base, files_of=ground.files_of)
            around = Surroundings(record, repository, workspace)
            working.attempt(record, workspace, facts, move, around)
        case moves.Keep(phase=repair, number=number):
            keep(context, facts, move, ground_of(record, repository, facts, repair, number))
        case moves.Check(phase=repair, number=number):
            check_repair(record, repository, context.proving(facts), facts, repair, number)
        case _:
            _perform(context, facts, move)


def _pulls(context: Context, facts: DeliveryFacts) -> Pulls:
    return Pulls(context.record, context.repository, context.proving(facts), context.forge())


def _compare(context: Context, facts: DeliveryFacts, point: str) -> None:
    record, repository = context.record, context.repository
    # Between phases no user looks; before a landing the pictures are all there is to see.
    if point == LANDING or record.run.options.landing == "direct":
        take_pictures(record, repository, context.environments(facts), facts)
    _record_differences(record, repository, Document(record, repository), facts, point)


def _record_differences(
    record: Record, repository: Repository, document: Document, facts: DeliveryFacts, point: str
) -> None:
    """Record which pending phases the plan has changed since, and which sign-offs are needed.

    A mark is no difference, and a difference with a yes is not asked about again.
    """
    run, wanted = record.run, _intents(document)
    frozen = {
        work: record.event(PhaseBegun, f"{work.phase}/begun", run=work.run).intent or ""
        for work in facts.pending
    }
    by_remark = sign_offs(record, facts.pending, frozen)
    by_sight = seen_by_people(record, repository, facts.pending, frozen)
    waiting = unsigned(record, [*by_remark, *by_sight], facts.pending)
    with record.store.write() as session:
        for work, intent in frozen.items():
            now = wanted.get(work.phase)
            found = PlanDiffers(phase=work.phase, point=point, commit=work.commit, intent=now)
            answered = approvals.last_answered(session, run.org, run.repo, under=found.question.under)
            if now != intent and not (answered and answered.answer == "yes"):
                found = structs.replace(found, declined=is_declined(run, answered, work.run))
                append_event(session, run, found, f"{work.phase}/differs/{point}")
        for mark in waiting:
            append_event(session, run, mark, f"wanted/{mark.item}")
        append_event(session, run, PlanCompared(point=point), f"compared/{point}")


def _intents(document: Document) -> dict[str, str]:
    try:
        plan = read(document.read())
    except (NotFound, PlanUnreadable):
        # Removing the plan withdraws its promises: a difference in every phase.
        return {}
    return {phase.id: phase.intent for phase in plan.phases}
