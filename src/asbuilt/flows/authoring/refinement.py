"""Refine a plan: a new text, a question to the user with the changes, and after approval the file.

Rules: the file is written only after a yes to exactly the new intent, and completed phases keep their text.
The text shown is the text that a yes would approve, found by its digest. It is compared with the last
approved text, else with the revision before, so the user sees all that is not approved yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import GateStopped, NotFound, PlanChanged
from asbuilt.events.plans import PlanFiled, PlanRedrafted, PlanRefining
from asbuilt.flows.checks.dry_run import keep_tried, tried_of
from asbuilt.flows.run.record import ACTOR
from asbuilt.journal import drafts
from asbuilt.journal.approvals import Approval
from asbuilt.journal.drafts import drafts_of
from asbuilt.journal.events import append, hold, keyed, open_plan, shortened, whole_history
from asbuilt.journal.ids import LOCAL, Address, new_id
from asbuilt.journal.queries.overview import events_of
from asbuilt.library.atomic_files import replace
from asbuilt.lifecycle.approval import Approved, File, Revision, Step, next_step
from asbuilt.lifecycle.status.plan_state import done_now, fold_plan
from asbuilt.pages.drafts import Change, changes
from asbuilt.plan.editing.refinement import refine
from asbuilt.plan.markdown.source import digest
from asbuilt.plan.model import Plan
from asbuilt.plan.reader import read
from asbuilt.proof.checks_before_work import Tried

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Store, Transactions
    from asbuilt.ports import Brief, Result

_RUN: Final = "refine-"
_DIGEST: Final = 11
"""Characters of a digest that are shown: `sha256:9c41`."""


class Wish(NamedTuple):
    """A requested change of a plan: the words, the user, and the checkout."""

    slug: str
    change: str
    actor: str
    checkout: str


class Refining(NamedTuple):
    """A refinement, and its next step."""

    run: str
    change: str
    base: str
    """Intent of the file when the new text was made."""
    checkout: str
    step: Step | None
    """None: its text was filed, or a newer draft replaced it."""


def is_refinement(run: str) -> bool:
    """Return whether a question is from a refinement, which has no run for a worker to resume."""
    return run.startswith(_RUN)


class Refinements:
    """The refinements of one plan."""

    def __init__(self, store: Store, blobs: Blobs, address: Address) -> None:
        self._store = store
        self._blobs = blobs
        self._address = address

    def done(self, plan: Plan) -> frozenset[str]:
        """Return the completed phases: from the journal if it knows the plan, else from the plan's marks."""
        with self._store.read() as session:
            entries = events_of(session, self._blobs, self._address)
        return done_now(fold_plan(entries), plan.marked_done)

    def refined(self, plan: Plan, proposed: bytes) -> bytes:
        """Merge a new text with the completed phases."""
        return refine(plan, proposed, self.done(plan))

    def propose(
        self, before: Plan, after: Plan, wish: Wish, *, by: str, tried: Sequence[Tried] | None = None
    ) -> Approval:
        """Ask for approval of a refinement; the file does not change before that.

        `by` wrote the new text; `tried` is the dry run of its checks. The file's current text is recorded as
        a revision too, so that the question can show the difference.
        """
        run = f"{_RUN}{new_id()}"
        was, now = (self._blobs.put(plan.source.data) for plan in (before, after))
        with self._store.write() as session:
            open_plan(session, self._address, wish.slug)
            hold(session, self._address)
            begun = PlanRefining(
                base=before.intent, change=shortened(wish.change, 700), by=wish.actor, checkout=wish.checkout
            )
            append(session, self._address, begun, key=f"{run}/begun", actor=wish.actor, run=run)
            newest = drafts.drafts_of(session, self._address).newest
            if newest is None or newest.intent != before.intent:
                drafts.write(session, self._address, before, run=run, by=wish.actor, text=was)
            written = drafts.write(session, self._address, after, run=run, by=by, text=now)
            if tried is not None:
                keep_tried(session, self._blobs, self._address, written, tried)
            title = f"{after.title}: {shortened(' '.join(wish.change.split()), 200)}"
            return drafts.ask(session, self._address, written, title=title, actor=ACTOR)

    def write_down(self, slug: str, brief: Brief, ended: Result | None) -> None:
        """Record how a redrafting turn ended, and what it used."""
        run, _, attempt = brief.attempt.partition(".")
        event = PlanRedrafted(
            attempt=attempt,
            agent=brief.agent,
            ending=ended.ending if ended else "not ended",
            cost_usd=ended.cost_usd if ended else None,
            tokens=ended.tokens if ended else None,
        )
        with self._store.write() as session:
            open_plan(session, self._address, slug)
            append(session, self._address, event, key=brief.attempt, actor=ACTOR, run=run)

    def last(self) -> Refining | None:
        """Return the newest refinement and its next step; None if there never was one."""
        with self._store.read() as session:
            begun_runs = [
                (entry.run or "", entry.event)
                for entry in whole_history(session, self._address)
                if isinstance(entry.event, PlanRefining)
            ]
            if not begun_runs:
                return None
            known = drafts.drafts_of(session, self._address)
            run, begun = begun_runs[-1]
            is_over = known.newest is None or known.newest.run != run
            if is_over or keyed(session, self._address, f"{run}/filed") is not None:
                step = None
            else:
                step = next_step(known)
        return Refining(run, begun.change, begun.base, begun.checkout, step)

    def file(self, refining: Refining, plan: Plan, file: Path, *, name: str, actor: str) -> Approved | None:
        """Write an approved text to the file, later marks kept; None if not approved or filed already."""
        if not isinstance(refining.step, File):
            return None
        approved, written = refining.step.approved, plan.digest
        if plan.intent != approved.intent:
            self._need_the_same(refining, plan, name)
            data = self.refined(plan, self._blobs.get(approved.text))
            if read(data).intent != approved.intent:
                raise GateStopped(
                    f"the approved text changes a completed phase of {name}",
                    why="Completed phases keep their text, and the approval covers another text.",
                    next_step=f'`asbuilt plan refine {name} "what changes"` asks again.',
                )
            replace(file, data, expected=plan.digest, name=name)
            written = digest(data)
        with self._store.write() as session:
            event = PlanFiled(path=self._address.plan, digest=written)
            append(session, self._address, event, key=f"{refining.run}/filed", actor=actor, run=refining.run)
        return approved

    def _need_the_same(self, refining: Refining, plan: Plan, name: str) -> None:
        if plan.intent != refining.base:
            raise PlanChanged(
                f"{name} was edited while its refinement waited",
                why="That edit would be lost. Nothing was written.",
                next_step=f'`asbuilt plan refine {name} "what changes"` starts from the current text.',
            )


class Draft(NamedTuple):
    """A revision, and its changes since an earlier text."""

    revision: Revision
    plan: Plan
    since: str
    """Name of the earlier text; empty if there is none."""
    changes: tuple[Change, ...]
    tried: list[Tried] | None
    """What its checks do before the work; None if they were not tried."""
    is_again: bool
    """Whether it was declined without a reason and is asked again."""

    @property
    def name(self) -> str:
        """Name of the revision: `revision 2 (edited by user)`."""
        label = f" ({self.revision.label})" if self.revision.label else ""
        return f"revision {self.revision.number}{label}"

    @property
    def brief(self) -> str:
        """The short digest that a yes would approve."""
        return self.revision.intent[:_DIGEST]


def draft_asked(store: Transactions, blobs: Blobs, repo: str, asked: Approval) -> Draft:
    """Find the text that a question is about, and its changes."""
    address = Address(LOCAL, repo, asked.plan)
    with store.read() as session:
        known = drafts_of(session, address)
        question = next((old for old in known.questions if old.name == asked.name), None)
        revision = known.revision(question.revision) if question else None
        tried = tried_of(session, blobs, address, revision) if revision else None
    if question is None or revision is None:
        raise NotFound(
            f"the draft of {asked.name} is not in the journal",
            why="The journal was restored to an earlier state, or another version wrote it.",
            next_step="`asbuilt doctor` looks at the journal.",
        )
    plan = read(blobs.get(revision.text))
    approved = next(
        (approval for approval in reversed(known.approved) if approval.intent != revision.intent), None
    )
    earlier = known.revision(revision.number - 1)
    if approved is not None:
        since, text = f"what {approved.by} approved", approved.text
    elif earlier is not None:
        since, text = f"revision {earlier.number}", earlier.text
    else:
        return Draft(revision, plan, "", (), tried, question.is_again)
    before = read(blobs.get(text))
    differs = changes(before, plan)
    return Draft(revision, plan, since, differs, tried, question.is_again)
