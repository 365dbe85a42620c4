"""Land by pull request: push, propose, poll, merge. Every call to the forge may be repeated.

Rule: a call to the forge is journalled before it is made, and its result is read from the forge.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from msgspec.structs import replace

from asbuilt.errors import ForgeFailed, GateStopped
from asbuilt.events import pulls
from asbuilt.events.event import Entry
from asbuilt.events.landings import LandingDone, LandingUndone
from asbuilt.flows.checks.prove import Proving
from asbuilt.flows.landing.candidates import Picks
from asbuilt.flows.landing.move import Refusal, built
from asbuilt.flows.pull_request.branch import pull_branch
from asbuilt.flows.pull_request.repairs import take_over
from asbuilt.flows.run.plan_file import Document
from asbuilt.flows.run.record import Record
from asbuilt.git import commits
from asbuilt.git.landing import candidates
from asbuilt.git.repository import Repository, plan_branch
from asbuilt.journal.events import shortened
from asbuilt.journal.queries.overview import Entries, events_of
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.pull_request.forge import BranchMoved, Checks, NotMerged, Pull
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.status.plan_state import fold_plan
from asbuilt.pages import pull_request as pages
from asbuilt.plan.model import Plan
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.git.forge.github import GitHub

_WORDS: Final = 500
_PATHS: Final = 8


class Known(NamedTuple):
    """What all runs of a plan did to its pull request; repairs only since the last landing."""

    ours: frozenset[str]
    """Heads that were pushed and contain only asbuilt's commits."""
    heads: dict[str, pulls.PullIntended]
    """Every intended head, with its commits."""
    mends: tuple[str, ...]
    resolved: dict[tuple[str, str], str]


class Pulls:
    """The pull request of one run's plan."""

    def __init__(self, record: Record, repository: Repository, proving: Proving, forge: GitHub) -> None:
        self._record = record
        self._run = record.run
        self._repository = repository
        self.forge = forge
        self._proving = proving
        self._document = Document(record, repository)
        self._target: str = record.run.options.branch
        self._branch = pull_branch(record)

    def perform(self, facts: DeliveryFacts, move: moves.PullMove) -> None:
        """Perform one move of a landing by pull request."""
        self._record.hold()
        match move:
            case moves.Look():
                self._look(facts)
            case moves.Push():
                self._push(facts)
            case moves.Propose():
                self._propose(facts)
            case moves.Mend():
                take_over(self._record, self._repository, facts, move)
            case moves.Merge():
                self._merge(facts)
            case _:
                assert_never(move)

    def land(self, facts: DeliveryFacts) -> None:
        """Record what the target has, by a merged pull request or by hand."""
        pull, target = self._found(facts), self.forge.fetch(self._target)
        landed_as = self._landed(facts, pull, target)
        known = self.known().heads.get(pull.head) if pull is not None else None
        payload = {
            "commits": [
                [*work, landed_as[work.commit]] for work in facts.pending if work.commit in landed_as
            ],
            "marks": known is not None and known.marks,
        }
        new = (pull.merged_as if pull is not None else None) or target or ""
        details = self._record.blobs.put_json(payload)
        done = LandingDone(new=new, branch=self._target, details=details)
        phases = [work.phase for work in facts.pending if work.commit in landed_as]
        self._record.end_work(done, f"landed/{new[:12]}", phases)

    def _look(self, facts: DeliveryFacts) -> None:
        pull, head = self._found(facts), self.forge.tip(self._branch)
        target = self.forge.fetch(self._target)
        landed = self._landed(facts, pull, target)
        state = "none" if pull is None else pull.state
        if landed or state == "merged":
            # A merged pull request that brought only earlier work is over; pending work needs a new one.
            state = "merged" if landed else "none"
        checks = self.forge.checks(head) if state == "open" and head else Checks(state="none")
        failure_data = {"failing": checks.failing, "excerpt": checks.excerpt}
        self._record.append(
            pulls.PullSeen(
                state=state,
                asked_at=self._now(),
                head=head,
                mergeable="unknown" if pull is None else pull.mergeable,
                checks=checks.state,
                target=target,
                details=self._record.blobs.put_json(failure_data),
            ),
            f"pull/seen/{facts.pull.looks + 1}",
        )

    def _push(self, facts: DeliveryFacts) -> None:
        """Push the proven commits, built on the current target, or record what blocks the push."""
        onto = self.forge.fetch(self._target)
        if onto is None:
            raise GateStopped(
                f"there is no branch {self._target} at {self.forge.address}",
                why="A pull request needs its target branch at the forge. Push it first.",
                next_step=f"`git push origin {self._target}`",
            )
        known, there = self.known(), self.forge.tip(self._branch)
        picks = Picks(self._record, self._repository, self._proving, self._document, facts)
        found = self._standing(picks, known, onto, there) or self._built(picks, known, onto, there)
        if isinstance(found, candidates.Conflict):
            self._block(facts, "conflict", self._conflict(found), found)
            return
        if isinstance(found, Refusal):
            self._block(facts, "moved", found)
            return
        candidates.hold(self._repository, self._run.run, found)
        refusal = picks.refusal(found)
        if refusal is not None:
            self._block(facts, "red", refusal)
            return
        self._record.append(
            pulls.PullIntended(
                head=found.tip,
                target=onto,
                theirs=there is not None and there not in known.ours,
                details=self._details(facts, found),
            ),
            f"pull/intended/{found.tip[:12]}",
        )
        pushed = self.forge.push(self._branch, found.tip, expected=there)
        if isinstance(pushed, BranchMoved):
            self._block(facts, "moved", self._moved())
            return
        sent = pulls.PullPushed(branch=self._branch, head=found.tip, target=onto, pushed_at=self._now())
        self._record.append(sent, f"pull/pushed/{facts.pull.pushes + 1}")

    def _standing(
        self, picks: Picks, known: Known, onto: str, there: str | None
    ) -> candidates.Candidate | None:
        """Return the branch at the forge if it has all proven commits, with repairs on top; else None."""
        if there is None or self.forge.fetch(self._branch) != there:
            return None
        above = [
            mend for mend in known.mends if commits.read_commit(self._repository, mend).parents == (there,)
        ]
        top = above[-1] if above else there
        if not commits.contains(self._repository, top, onto):
            return None
        landed_as = self._landed_commits(picks.facts, top, since=onto)
        if any(work.commit not in landed_as for work in picks.facts.pending):
            return None
        found = candidates.Candidate(onto=onto, tip=top, commits=tuple(landed_as.items()))
        return picks.marked(found, sign=False)

    def _built(
        self, picks: Picks, known: Known, onto: str, there: str | None
    ) -> candidates.Candidate | candidates.Conflict | Refusal:
        """Build the branch again, unless it has commits that others pushed."""
        if there is not None and there not in known.ours:
            return self._moved()

        def build(sign: bool) -> candidates.Candidate | candidates.Conflict | Refusal:  # noqa: FBT001
            found = picks.gathered(onto, sign=sign, resolved=known.resolved)
            if not isinstance(found, candidates.Candidate):
                return found
            run = self._run.run
            above = candidates.pick(
                self._repository,
                onto=found.tip,
                commits=known.mends,
                run=run,
                sign=sign,
                resolved=known.resolved,
            )
            return above if isinstance(above, candidates.Conflict) else replace(found, tip=above.tip)

        wants = self._run.options.signs_if_configured and commits.signs(self._repository)
        return built(build, sign=wants, append=self._record.append)

    def _propose(self, facts: DeliveryFacts) -> None:
        """Open the pull request, or find the open one, and write the plan's progress into it."""
        self._record.append(
            pulls.PullOpening(branch=self._branch, into=self._target), f"pull/opening/{self._branch}"
        )
        options, plan = self._run.options, read(self._document.read())
        steps = self._steps(facts, plan)
        brought = {work.phase for work in facts.pending}
        only = [step for step in steps if step.id in brought] if len(steps) > 1 else []
        title = pages.title(options.slug, plan.title, phase=only[0] if len(only) == 1 else None)
        block = pages.progress(steps, plan=self._run.plan, run=self._run.name)
        body = pages.with_progress("", block)
        pull = self.forge.open(branch=self._branch, base=self._target, title=title, body=body)
        # A failed update of the body stops nothing: the journal has the progress.
        with suppress(ForgeFailed):
            self.forge.update(pull.number, body=pages.with_progress(pull.body, block))
        self._record.append(pulls.PullOpened(number=pull.number, url=pull.url), f"pull/opened/{pull.number}")

    def _steps(self, facts: DeliveryFacts, plan: Plan) -> list[pages.Step]:
        """Return the plan's phases with their commits, in this pull request or before it."""
        events = self._events()
        proven = {work.phase: work.commit for work in fold_plan(events).proven}
        pushed = known_of(events).heads.get(facts.pull.head or "")
        landed_as = proven | {phase: commit for phase, _, _, commit in (pushed.commits if pushed else ())}
        return [
            pages.Step(
                phase.id, phase.title, landed_as.get(phase.id, "by hand") if phase.id in facts.done else None
            )
            for phase in plan.phases
        ]

    def _merge(self, facts: DeliveryFacts) -> None:
        head, number, turn = facts.pull.head or "", facts.pull.number or 0, facts.pull.looks
        self._record.append(pulls.PullMerging(number=number, head=head), f"pull/merging/{turn}")
        merged = self.forge.merge(number, head=head)
        if isinstance(merged, NotMerged):
            self._record.append(pulls.PullRefused(why=shortened(merged.why, _WORDS)), f"pull/refused/{turn}")
        else:
            self._record.append(pulls.PullMerged(number=number, new=merged.merged_as), f"pull/merged/{turn}")

    def _found(self, facts: DeliveryFacts) -> Pull | None:
        number = facts.pull.number
        return self.forge.find(self._branch) if number is None else self.forge.pull(number)

    def known(self) -> Known:
        """Return what all runs of the plan did to its pull request."""
        return known_of(self._events())

    def _events(self) -> Entries:
        with self._record.store.read() as session:
            return events_of(session, self._record.blobs, self._run.address)

    def _landed(self, facts: DeliveryFacts, pull: Pull | None, target: str | None) -> dict[str, str]:
        """Map each pending proven commit to the commit of the target that holds it."""
        since = commits.read_commit(self._repository, facts.pending[0].commit).parents[0]
        landed_as = {} if target is None else self._landed_commits(facts, target, since=since)
        if pull is not None and pull.state == "merged" and pull.merged_as:
            # After a squash merge, one commit holds all of them.
            known = self.known().heads.get(pull.head)
            held = {commit for _, _, commit, _ in known.commits} if known else set()
            waiting = (work.commit for work in facts.pending)
            landed_as = {commit: pull.merged_as for commit in waiting if commit in held} | landed_as
        return landed_as

    def _landed_commits(self, facts: DeliveryFacts, at: str, *, since: str) -> dict[str, str]:
        """Map each proven commit to its commit in a history, found by trailers."""
        there = {
            (outcome.run, outcome.phase): outcome.commit
            for outcome in commits.outcomes(
                self._repository, at, *sorted({work.run for work in facts.pending}), since=since
            )
            if not outcome.undone
        }
        found = ((work.commit, there.get((work.run, work.phase))) for work in facts.pending)
        return {commit: landed_as for commit, landed_as in found if landed_as is not None}

    def _details(self, facts: DeliveryFacts, candidate: candidates.Candidate) -> str:
        landed_as = dict((*candidate.commits, *candidate.present))
        payload = {
            "commits": [
                [*work, landed_as[work.commit]] for work in facts.pending if work.commit in landed_as
            ],
            "marks": self._document.committed(candidate.tip) is not None,
        }
        return self._record.blobs.put_json(payload)

    def _block(
        self, facts: DeliveryFacts, why: str, refusal: Refusal, conflict: candidates.Conflict | None = None
    ) -> None:
        paths = conflict.paths if conflict is not None else ()
        self._record.append(
            pulls.PullBlocked(
                why=why,
                what=shortened(f"{refusal.what} {refusal.why}", _WORDS),
                next=shortened(refusal.next_step, _WORDS),
                details=self._record.blobs.put_json({"paths": paths}),
                commit="" if conflict is None else conflict.commit,
                here="" if conflict is None else conflict.onto,
            ),
            f"pull/blocked/{facts.pull.blocks + 1}",
        )

    def _conflict(self, found: candidates.Conflict) -> Refusal:
        named = ", ".join(found.paths[:_PATHS]) + (" and more" if len(found.paths) > _PATHS else "")
        return Refusal(
            f"Not pushed: {len(found.paths)} files conflict with {self._target}: {named}.",
            f"Commit {found.commit[:10]} does not apply to it. Nothing moved.",
            self._by_hand(),
        )

    def _moved(self) -> Refusal:
        return Refusal(
            f"Not pushed: another user pushed to {self._branch}.",
            "The branch lacks proven commits, or is behind the target. Nothing moved.",
            self._by_hand(),
        )

    def _by_hand(self) -> str:
        """Return the steps to fix the branch by hand; asbuilt proves what the user pushes, too."""
        branch = plan_branch(self._repository, self._record.run.options.slug)
        return (
            f"By hand: git fetch origin; git switch -c {self._branch} {branch};"
            f" git rebase origin/{self._target}; git push --force-with-lease origin {self._branch}."
        )

    def _now(self) -> str:
        with self._record.store.read() as session:
            return session.now


def known_of(entries: Iterable[Entry]) -> Known:
    """Fold what all runs of a plan did to its pull request; repairs are dropped at each landing."""
    heads: dict[str, pulls.PullIntended] = {}
    ours: set[str] = set()
    mends: list[str] = []
    resolved: dict[tuple[str, str], str] = {}
    for event in (entry.event for entry in entries):
        match event:
            case pulls.PullIntended():
                heads[event.head] = event
                ours |= set() if event.theirs else {event.head}
            case pulls.PullMended(commit=str(commit)):
                mends.append(commit)
            case pulls.PullMended(of=str(of), here=str(here), tree=str(tree)):
                resolved[of, here] = tree
            case LandingDone() | LandingUndone():
                mends = []
    return Known(frozenset(ours), heads, tuple(mends), resolved)
