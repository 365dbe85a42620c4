"""Gather the facts of a run's report. Deleted blobs are left out, never made up."""

from __future__ import annotations

import json
import re
from datetime import UTC
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from msgspec import UNSET, structs

from asbuilt.errors import GitFailed, NotFound, StoreFailed
from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked
from asbuilt.events.attempts import (
    AttemptBegun,
    DriftFound,
    Judged,
    TogetherDone,
    TogetherJudged,
    VerdictGiven,
)
from asbuilt.events.event import Entry, Event
from asbuilt.events.phases import PhaseBegun, PhaseRechecked, PicturesTaken, SetupDone
from asbuilt.events.plans import PlanCompleted
from asbuilt.events.pulls import PullInvariants, PullMended, PullOpened
from asbuilt.events.runs import end_words
from asbuilt.flows.checks.pictures import TESTER, pictures_in
from asbuilt.flows.landing.sign_offs import signed_off
from asbuilt.flows.run.approval import kept_waived, promises_of
from asbuilt.flows.run.record import Record
from asbuilt.git.repository import open_repository, plan_branch
from asbuilt.git.workspace import snapshots
from asbuilt.journal import runs
from asbuilt.journal.queries.overview import Entries, events_of, facts_from, failures_of
from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Landed, Work
from asbuilt.lifecycle.plan_run.drift import drifted
from asbuilt.lifecycle.run.facts import PASS, AttemptFacts, PhaseFacts
from asbuilt.lifecycle.run.money import Spent, total
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.lifecycle.status.report import (
    Account,
    AttemptAccount,
    Decision,
    Outlined,
    PhaseAccount,
    PullAccount,
)
from asbuilt.lifecycle.status.timeline import spans_of
from asbuilt.lifecycle.undo import UndoFacts
from asbuilt.lifecycle.verify_run import VerificationFacts
from asbuilt.pages.run_report import Page
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.model import Plan
from asbuilt.plan.reader import read
from asbuilt.proof.drift.measured_numbers import Number
from asbuilt.proof.evidence import Evidence, evidence_from
from asbuilt.proof.failure import Failure, failure_of
from asbuilt.proof.opinion import Opinion, opinion_from
from asbuilt.proof.pictures import Picture
from asbuilt.proof.projects.model import suites_of
from asbuilt.proof.remarks import remark_from
from asbuilt.proof.verdict import faults_in, item_from

if TYPE_CHECKING:
    from asbuilt.journal.home import Home

_SEVERAL: Final = 2


class Window(NamedTuple):
    """The part of a run that an account has in full. The report of a run has no window."""

    phases: frozenset[str]
    attempts: int
    """The newest attempts of each of these phases; of another phase, the last with evidence."""
    is_only: bool = False
    """Leave out all other phases."""


_JUDGE: Final = re.compile(r"[vt]\d*$")
"""The end of the name of an attempt's verifier or tester: `2.1v`, `2.1v2`, `2.1t`."""
_Kind = TypeVar("_Kind", bound="Event")


class _Gathering:
    """One run's events and blobs, to build its account from."""

    def __init__(self, record: Record, facts: ProvingFacts, events: Entries, window: Window | None) -> None:
        self._record = record
        self._window = window
        self._facts = facts
        run = record.run
        every = [entry for entry in events if entry.run == run.run]
        self.entries: list[Entry] = every
        self.failures: dict[str, Failure] = {}
        self._plans: dict[str, Plan | None] = {}
        self._costs: dict[str, list[Spent]] = {}
        for name, used in facts.costs.items():
            self._costs.setdefault(_JUDGE.sub("", name), []).append(used)
        self._by_key = {entry.key.removeprefix(f"{run.run}/"): entry.event for entry in every}

    def event(self, kind: type[_Kind], key: str) -> _Kind | None:
        """Return an event by its key; None if it was not written."""
        event = self._by_key.get(key)
        if event is None and self._window is not None:
            return self._record.find(kind, key)
        return event if isinstance(event, kind) else None

    def last(self, kind: type[_Kind]) -> _Kind | None:
        """Return the last event of a kind."""
        found = (entry.event for entry in reversed(self.entries))
        return next((event for event in found if isinstance(event, kind)), None)

    def frozen(self, phase: str) -> Plan | None:
        """Read the plan as it was when a phase started."""
        begun = self.event(PhaseBegun, f"{phase}/begun")
        if begun is None:
            return None
        if begun.text not in self._plans:
            kept = self._blob(begun.text)
            self._plans[begun.text] = _plan_of(kept) if kept else None
        return self._plans[begun.text]

    def phase(self, phase: PhaseFacts) -> PhaseAccount:
        """Return the account of a phase that was started or checked again."""
        plan = self.frozen(phase.id)
        frozen = the_phase(plan, phase.id) if plan else None
        attempts = tuple(self._attempt(phase.id, attempt) for attempt in self._shown(phase))
        landed = self._facts.landed if isinstance(self._facts, DeliveryFacts) else ()
        landed_as = {landed_phase.commit: landed_phase.landed_as for landed_phase in landed}
        rechecked = self.event(PhaseRechecked, f"{phase.id}/rechecked")
        begun = self.event(PhaseBegun, f"{phase.id}/begun")
        return PhaseAccount(
            id=phase.id,
            title=frozen.title if frozen else phase.title,
            promised=promises_of(frozen) if frozen else (),
            attempts=attempts,
            proven=phase.proven,
            landed=landed_as.get(phase.proven or ""),
            waived=kept_waived(self._record, phase.waived),
            intent=phase.intent or "",
            signed=signed_off(self._record, phase.intent or "", attempts[-1].remarks if attempts else ()),
            rechecked=self._evidence(rechecked.evidence if rechecked else None),
            checks=len(frozen.checks) if frozen else 0,
            is_edited=begun is not None and begun.edited,
        )

    def _shown(self, phase: PhaseFacts) -> list[AttemptFacts]:
        window = self._window
        if window is None:
            return phase.attempts
        if phase.id in window.phases:
            return phase.attempts[-window.attempts :]
        return [attempt for attempt in phase.attempts if attempt.evidence or attempt.remarks][-1:]

    def _attempt(self, phase: str, attempt: AttemptFacts) -> AttemptAccount:
        key, name = f"{phase}/{attempt.number}", f"{phase}.{attempt.number}"
        is_tested = attempt.tested not in (None, PASS)
        verdict = self.event(VerdictGiven, f"{key}/{'tested' if is_tested else 'verdict'}")
        items = self._plain(attempt.items)
        begun, drift = self.event(AttemptBegun, f"{key}/begun/1"), self.event(DriftFound, f"{key}/drift")
        return AttemptAccount(
            number=attempt.number,
            role=attempt.role,
            ending=attempt.ending or "not ended",
            reason=attempt.reason,
            says=attempt.says,
            kept=f"{snapshots.ATTEMPTS}{self._record.run.run}.{name}" if attempt.commit else None,
            evidence=(*self._evidence(attempt.evidence), *self._evidence(attempt.tries)),
            items=tuple(item_from(item) for item in items or ()),
            opinion=self._opinion(verdict),
            faults=faults_in(verdict.failures if verdict else ()),
            remarks=tuple(remark_from(row) for row in self._plain(attempt.remarks) or ()),
            numbers=tuple(Number(*row) for row in self._plain(attempt.numbers) or ()),
            claims=drift.notes if drift else (),
            agent=begun.agent if begun else "",
            began_at=attempt.began_at,
            ended_at=attempt.ended_at,
            notes=attempt.notes,
            failures=attempt.failures,
            refused=attempt.refused,
            spent=total(self._costs.get(name, ())),
        )

    def whole(self) -> AttemptAccount | None:
        """Return the account of all phases together; None unless there are several."""
        proven, judged = self.event(TogetherDone, "together"), self.event(TogetherJudged, "together/judged")
        facts = self._facts
        works = (*facts.unlanded, *facts.works) if isinstance(facts, DeliveryFacts) else ()
        if len(works) < _SEVERAL or proven is None:
            return None
        return AttemptAccount(
            number=0,
            role="verify",
            ending=proven.outcome,
            reason="; ".join(proven.failures),
            says=judged.says if judged else "",
            kept=None,
            evidence=self._evidence(proven.evidence),
            items=tuple(item_from(row) for row in self._plain(judged.items if judged else None) or ()),
            opinion=self._opinion(judged),
            faults=faults_in(judged.failures if judged else ()),
        )

    def _opinion(self, judged: Judged | None) -> Opinion | None:
        kept = self._plain(judged.opinion or None) if judged and judged.opinion is not UNSET else None
        return None if kept is None else opinion_from(kept)

    def pictures(self) -> tuple[Picture, ...]:
        """Return the pictures of the UI: the latest of a command, and each phase's latest of a tester."""
        events = [entry.event for entry in self.entries if isinstance(entry.event, PicturesTaken)]
        last = {(taken.command, taken.tree if taken.command == TESTER else ""): taken for taken in events}
        return tuple(picture for taken in last.values() for picture in pictures_in(self._record.blobs, taken))

    def pull(self) -> PullAccount | None:
        """Return the account of the pull request; None before it is opened."""
        opened = self.last(PullOpened)
        if opened is None:
            return None
        found = self.event(PullInvariants, "pull/invariants")
        return PullAccount(
            opened.number,
            opened.url,
            sum(isinstance(entry.event, PullMended) for entry in self.entries),
            found.broken if found else None,
            found.warned if found else (),
        )

    def decisions(self) -> tuple[Decision, ...]:
        """List questions to users and their answers, newest first."""
        answers = {
            row.event.key: (row.event, row) for row in self.entries if isinstance(row.event, ApprovalAnswered)
        }
        asked = [entry.event for entry in self.entries if isinstance(entry.event, ApprovalAsked)]
        return tuple(
            _decision(request, *answers.get(request.key, (None, None))) for request in reversed(asked)
        )

    def _evidence(self, digest: str | None) -> tuple[Evidence, ...]:
        shown = tuple(evidence_from(row) for row in self._plain(digest) or ())
        for evidence in shown:
            if evidence.outcome != "PASS":
                self.failures[evidence.output] = failure_of(evidence, self._blob(evidence.output) or b"")
        return shown

    def _plain(self, digest: str | None) -> Any:  # noqa: ANN401 - JSON
        kept = self._blob(digest)
        return None if kept is None else json.loads(kept)

    def _blob(self, digest: str | None) -> bytes | None:
        try:
            return None if digest is None else self._record.blobs.get(digest)
        except (NotFound, StoreFailed):
            return None


_plan_of: Final = lru_cache(maxsize=4)(read)
"""Parses a frozen plan; the pages of the board show the same text again and again."""


def _decision(asked: ApprovalAsked, answered: ApprovalAnswered | None, entry: Entry | None) -> Decision:
    name = f"a{asked.number}"
    if answered is None or entry is None:
        return Decision(name, asked.about, asked.question, "", "", "", "")
    answer, note = answered.answer, answered.note
    return Decision(name, asked.about, asked.question, answer, entry.actor, entry.at, note)


def _branch(record: Record) -> str:
    """Return the plan's branch; its usual name if the checkout is gone."""
    options = record.run.options
    try:
        return plan_branch(open_repository(Path(options.checkout)), options.slug)
    except (NotFound, GitFailed):
        return f"asbuilt/{options.slug}"


def _order(facts: ProvingFacts, delivery: DeliveryFacts, window: Window | None) -> list[str]:
    rechecked = facts.rechecked if isinstance(facts, VerificationFacts) else {}
    begun = (phase.id for phase in facts.phases.values() if phase.begun or phase.id in rechecked)
    order = dict.fromkeys((*(work.phase for work in delivery.works), *begun))
    return [phase for phase in order if window is None or not window.is_only or phase in window.phases]


def account_of(
    record: Record,
    facts: ProvingFacts,
    events: Entries,
    folder: Path,
    now: str,
    *,
    window: Window | None = None,
) -> Account:
    """Gather the facts of a report; `folder` has workspaces, a window needs only its phases' `events`."""
    run, gathering = record.run, _Gathering(record, facts, events, window)
    entries = gathering.entries
    pictured = gathering.last(PicturesTaken)
    delivery = facts if isinstance(facts, DeliveryFacts) else DeliveryFacts(facts.run)
    order = _order(facts, delivery, window)
    completed = gathering.last(PlanCompleted)
    plan = next((found for phase in order if (found := gathering.frozen(phase))), None)
    return Account(
        name=run.name,
        plan=run.plan,
        slug=run.options.slug,
        kind=facts.kind,
        target=run.options.branch,
        branch=_branch(record),
        state=facts.ended or "proven",
        reason=end_words(facts.ended or "", facts.reason),
        at=now,
        phases=tuple(gathering.phase(facts.phases[phase]) for phase in reversed(order)),
        landed=tuple(delivery.landed),
        pending=delivery.pending,
        undone=facts.undoes if isinstance(facts, UndoFacts) and facts.ended == "undone" else (),
        workspaces=tuple(str(path) for path in sorted(folder.iterdir())) if folder.is_dir() else (),
        title=plan.title if plan else "",
        began_at=run.at,
        ended_at=run.ended_at or "",
        worked_s=facts.time.worked_s(run.ended_at or now or run.at),
        spent=facts.spent,
        sandbox_level=facts.sandbox_level,
        tests=", ".join(suite.shown for suite in suites_of(facts.tests)) or None if facts.tests else None,
        setup=record.prepared(SetupDone, "setup").command if facts.setup else None,
        baseline=facts.baseline_shown,
        outline=tuple(
            Outlined(phase.id, phase.title, phase.needs, phase.id in facts.done_before)
            for phase in facts.phases.values()
        ),
        spans=spans_of(entries, now or (entries[-1].at if entries else "")),
        decisions=gathering.decisions(),
        pictures=gathering.pictures(),
        pull=gathering.pull(),
        pictured=pictured.why if pictured else "",
        whole=gathering.whole(),
        far=drifted(facts),
        failures=gathering.failures,
        failed=failures_of(record.blobs, facts.failed) if facts.failed else (),
        next_step=facts.next_step,
        other=facts.other,
        gaps=completed.gaps if completed else (),
        brief=frozenset(order) - window.phases if window else frozenset(),
    )


def with_earlier_phases(
    record: Record, facts: ProvingFacts, events: Entries, account: Account, *, pending: bool
) -> Account:
    """Add the phases that the run landed and earlier runs proved, with that run; `pending`: others too."""
    if not isinstance(facts, DeliveryFacts) or isinstance(facts, UndoFacts):
        return account
    here = {phase.id for phase in account.phases}
    found, failures = [], dict(account.failures)
    landed_as = {landed.commit: landed.landed_as for landed in facts.landed}
    works: list[Landed | Work] = [*facts.landed, *(facts.pending if pending else ())]
    for work in reversed(works):
        if work.phase in here or work.run == facts.run:
            continue
        with record.store.read() as session:
            run = runs.find(session, record.run.org, record.run.repo, work.run)
        earlier = facts_from(run, events) if run else None
        if run is None or not isinstance(earlier, ProvingFacts) or work.phase not in earlier.phases:
            continue
        gathering = _Gathering(structs.replace(record, run=run), earlier, events, None)
        phase = gathering.phase(earlier.phases[work.phase])
        found.append(phase._replace(run=run.name, landed=landed_as.get(work.commit)))
        failures |= gathering.failures
    return account._replace(phases=(*account.phases, *found), failures=failures)


def report(record: Record, facts: ProvingFacts, home: Home, now: str = "") -> str:
    """Keep the current report of a run as a blob; returns its digest."""
    run = record.run
    with record.store.read() as session:
        events = events_of(session, record.blobs, run.address)
    account = account_of(record, facts, events, home.workspaces / run.repo / run.run, now)
    return record.blobs.put(Page(account, UTC).markdown.encode("utf-8", "replace"))
