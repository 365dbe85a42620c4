"""Fold the events of a run that lands or reverts proven work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.approvals import ApprovalAnswered
from asbuilt.events.landings import LandingDone
from asbuilt.events.phases import SignOffWanted
from asbuilt.events.plans import PlanCompared, PlanDiffers, PlanMarked
from asbuilt.events.pulls import IssuesTold, PullMerging, PullRefused
from asbuilt.events.questions import PullKey, key_in
from asbuilt.events.runs import ReportWritten, RunHastened, RunStarted
from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Difference, Landed, SignOff, Work
from asbuilt.lifecycle.pull_request.facts import hear_pull, look_again, pull_in, start_over
from asbuilt.lifecycle.run.fold import take_options
from asbuilt.lifecycle.run.landing import hear_landing
from asbuilt.lifecycle.run.proving import hear_proving

if TYPE_CHECKING:
    from asbuilt.events.event import Event
    from asbuilt.events.options import RunOptions


def take_delivery(facts: DeliveryFacts, options: RunOptions) -> None:
    """Copy the options that such a run uses."""
    take_options(facts, options)
    facts.hold, facts.way = options.holds, options.landing
    facts.wanted, facts.pull = options.phase, pull_in(options)
    facts.issues = () if options.kind == "undo" else options.issues


def hear_delivery(facts: DeliveryFacts, event: Event) -> None:
    """Fold one event."""
    hear_proving(facts, event)
    hear_pull(facts.pull, event)
    hear_landing(facts.landing, event)
    match event:
        case RunStarted():
            facts.branch_at = event.branch_at
            facts.unlanded = tuple(Work(*work) for work in event.unlanded)
        case ApprovalAnswered(answer="yes") if isinstance(key_in(event.key), PullKey):
            look_again(facts.pull)
        case PlanDiffers():
            facts.differs[event.phase] = Difference(event.point, event.commit, event.intent)
        case PlanCompared():
            facts.compared = event.point
            facts.differs = {
                phase: found for phase, found in facts.differs.items() if found.point == event.point
            }
        case SignOffWanted():
            facts.sign_offs[event.item] = SignOff(event.item, event.phase, event.question)
        case ReportWritten():
            facts.reported = True
        case PlanMarked():
            facts.marked = True
        case RunHastened():
            facts.pull.seen = None
        case LandingDone():
            facts.marked, facts.marks_landed = False, event.marks
            facts.landed += [Landed(*one) for one in event.commits]
            start_over(facts.pull)
        case IssuesTold():
            facts.issues = ()
        case PullMerging():
            # The forge may have merged it: such a pull request is finished like a landing.
            facts.landing.state = "intended"
        case PullRefused():
            facts.landing.state = None
        case _:
            pass
