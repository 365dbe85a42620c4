"""Candidates of a landing: proven commits for the target, or commits that revert them.

Rule: everything is proven on the target; only a tree that this run already proved is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from asbuilt.events.landings import LandingRetried
from asbuilt.events.runs import ReportWritten
from asbuilt.flows.checks.outcomes import failures_of
from asbuilt.flows.checks.prove import Proving, tree_of
from asbuilt.flows.landing.move import Refusal
from asbuilt.flows.landing.target_tests import TargetTests
from asbuilt.flows.run.approval import waived_in
from asbuilt.flows.run.drift import corrected_in
from asbuilt.flows.run.marks import marked, reopened
from asbuilt.flows.run.record import Record
from asbuilt.git import commits
from asbuilt.git.landing import candidates
from asbuilt.git.repository import Repository, plan_branch
from asbuilt.git.trees import file_in
from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Work
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.proof.evidence import Evidence

if TYPE_CHECKING:
    from asbuilt.flows.run.plan_file import Document
    from asbuilt.lifecycle.undo import UndoFacts

_NAMED: Final = 5
_WHAT_CHARS: Final = 500
_ROW: Final = 80
"""Characters of a command that is advised as it is."""


class Picks(Struct, frozen=True):
    """Proven phases, one commit each, with the plan's marks as the last commit."""

    record: Record
    repository: Repository
    proving: Proving
    document: Document
    facts: DeliveryFacts

    def build(self, onto: str, *, sign: bool) -> candidates.Candidate | Refusal:
        """Cherry-pick the proven commits onto a tip."""
        found = self.gathered(onto, sign=sign, resolved={}, skips_empty=True)
        return self._conflict(found) if isinstance(found, candidates.Conflict) else found

    def gathered(
        self, onto: str, *, sign: bool, resolved: Mapping[tuple[str, str], str], skips_empty: bool = False
    ) -> candidates.Candidate | candidates.Conflict | Refusal:
        """Cherry-pick the proven commits onto a tip, with the plan's marks last, or return the conflict."""
        taken_back = self._taken_back(onto)
        if taken_back is not None:
            return taken_back
        wanted = [work.commit for work in self.facts.pending]
        run = self.record.run.run
        found = candidates.pick(
            self.repository,
            onto=onto,
            commits=wanted,
            run=run,
            sign=sign,
            resolved=resolved,
            skips_empty=skips_empty,
        )
        return found if isinstance(found, candidates.Conflict) else self.marked(found, sign=sign)

    def marked(self, found: candidates.Candidate, *, sign: bool) -> candidates.Candidate:
        """Add a commit with the plan's marks, unless it has them or may not be committed."""
        before = self.document.committed(found.tip)
        if before is None:
            return found
        landed = {work.phase: landed_as for work, landed_as in self._landed_commits(found)}
        waived = waived_in(self.record, self.facts.pending)
        completed = completion(self.record, self.facts)
        corrected = corrected_in(self.record, self.facts.pending)
        after = marked(before, landed, completed=completed, waived=waived, corrected=corrected)
        edit = self.document.edit(after, f"Mark {self.record.run.plan}", self._reports(found.tip))
        return candidates.add_files(self.repository, found, edit, run=self.record.run.run, sign=sign)

    def _reports(self, at: str) -> dict[str, bytes]:
        """Return the file with the plan's reports, the new one first, if reports are committed."""
        options, pending = self.record.run.options, self.facts.pending
        path = f"{options.reports}/plan-{options.slug}.md" if options.reports else ""
        written = self.record.find(ReportWritten, "report", run=pending[-1].run) if path and pending else None
        if written is None:
            return {}
        page = self.record.blobs.get(written.report)
        before = file_in(self.repository, at, path) or b""
        return {} if before.startswith(page) else {path: b"\n---\n\n".join(filter(None, (page, before)))}

    def refusal(self, candidate: candidates.Candidate) -> Refusal | None:
        """Prove each phase by its own checks at its commit, and the whole by the tests.

        A phase that the target has already, by a merge of the user, is proven on the target as it is now.
        What fails runs again, held to the tests that the target has now. A second failure refuses the
        landing, so that the next in line gets its turn; a pass lands, and the event of the retry stays.
        """
        is_empty = candidate.tip == candidate.onto and not candidate.present
        if is_empty or self._is_proven(tree_of(self.repository, candidate.top)):
            return None
        failures, _ = self._failures(candidate)
        if not failures:
            return None
        self.record.append(LandingRetried(what=failures[0][:_WHAT_CHARS]), f"retried/{candidate.tip[:12]}")
        now = self._target.now(candidate.onto)
        failures, failing = self._failures(candidate, now)
        return self._red(candidate, failures, failing, _failing(now)) if failures else None

    def _failures(
        self, candidate: candidates.Candidate, now: Sequence[Evidence] = ()
    ) -> tuple[list[str], list[Evidence]]:
        """Return what fails, in words and as evidence; `now`: what the target's tests show."""
        failures: list[str] = []
        failing: list[Evidence] = []
        for work, landed_as in self._landed_commits(candidate):
            phase, _ = self.record.frozen(work.phase, run=work.run)
            checks = [check.command for check in phase.checks]
            shown = self._shown(candidate, work, landed_as, checks)
            failures += [f"phase {work.phase}: {failure}" for failure in failures_of(shown)]
            failing += [evidence for evidence in shown if evidence.outcome != "PASS"]
        tests = _failing(self._target.on(candidate.tip, self.facts.pending[-1], now))
        return failures + failures_of(tests), failing + tests

    def _shown(
        self, candidate: candidates.Candidate, work: Work, landed_as: str, checks: Sequence[str]
    ) -> Sequence[Evidence]:
        """Run the checks of a phase; for one that the target has already, on the target.

        A check that fails at the last proven commit too is superseded by a later phase.
        """
        last = self.facts.pending[-1].commit
        if work.commit not in dict(candidate.present):
            return self.proving.check(tree_of(self.repository, landed_as), checks)
        shown = self.proving.check(tree_of(self.repository, candidate.top), checks)
        failing = [evidence.command for evidence in shown if evidence.outcome != "PASS"]
        before = self.proving.check(tree_of(self.repository, last), failing) if failing else ()
        superseded = {evidence.command for evidence in before if evidence.outcome == "FAIL"}
        return [evidence for evidence in shown if evidence.command not in superseded]

    def details(self, candidate: candidates.Candidate) -> str:
        """Keep which commit holds which phase."""
        payload = {
            "commits": [[*work, landed_as] for work, landed_as in self._landed_commits(candidate)],
            "marks": candidate.tip != candidate.top,
        }
        return self.record.blobs.put_json(payload)

    def _taken_back(self, onto: str) -> Refusal | None:
        """Refuse work that landed and was reverted: a journal restored from a backup may not know."""
        wanted = {(work.run, work.phase) for work in self.facts.pending}
        back = [
            outcome
            for outcome in commits.outcomes(
                self.repository, onto, *sorted({run for run, _ in wanted}), since=self.facts.base
            )
            if outcome.undone and (outcome.run, outcome.phase) in wanted
        ]
        if not back:
            return None
        branch, slug = self.record.run.options.branch, self.record.run.options.slug
        return Refusal(
            f"Not landed: {branch} had phase {back[0].phase} at {back[0].commit[:10]}, which was reverted.",
            "The journal has no record of the revert; another user may have made it. Nothing moved. "
            "An undo drops it here, too.",
            f"asbuilt land {slug} --undo",
        )

    @property
    def _target(self) -> TargetTests:
        return TargetTests(self.record, self.repository, self.proving)

    def _landed_commits(self, candidate: candidates.Candidate) -> list[tuple[Work, str]]:
        landed_as = dict((*candidate.commits, *candidate.present))
        return [(work, landed_as[work.commit]) for work in self.facts.pending if work.commit in landed_as]

    def _is_proven(self, tree: str) -> bool:
        """Return whether this run proved that very tree: as a whole, or as the latest phase."""
        facts = self.facts
        if not isinstance(facts, PlanFacts) or not (
            facts.together == "PASS" or (facts.way == "direct" and facts.works)
        ):
            return False
        last = facts.works[-1].commit if facts.works else facts.base or ""
        return tree == tree_of(self.repository, last)

    def _red(
        self,
        candidate: candidates.Candidate,
        failures: list[str],
        failing: Sequence[Evidence],
        red: Sequence[Evidence],
    ) -> Refusal:
        branch, slug = self.record.run.options.branch, self.record.run.options.slug
        kept = self.record.keep(failing)
        if candidate.present:
            return Refusal(
                f"Not landed: {branch} has it, but at {candidate.onto[:10]} it is not proven: {failures[0]}.",
                "asbuilt did not land it there: it counts as landed once it is proven there. Nothing moved.",
                _mending(failing, branch),
                f"then: `asbuilt land {slug}`; or revert it: `asbuilt land {slug} --undo`",
                kept,
            )
        if red:
            again = f"asbuilt land {slug}"
            return _red_target(branch, candidate, f"Not landed: {branch}", again, _mending(red, branch), kept)
        return Refusal(
            f"Not landed: on {branch} at {candidate.onto[:10]} it is not proven: {failures[0]}.",
            f"{branch} has moved since, and the two do not work together; it failed twice. "
            f"Nothing moved; {plan_branch(self.repository, slug)} has it all. Fix {branch} first.",
            f"asbuilt land {slug}",
            f"drop the proven work, to run it again: `asbuilt land {slug} --undo`",
            kept,
        )

    def _conflict(self, found: candidates.Conflict) -> Refusal:
        branch, slug = self.record.run.options.branch, self.record.run.options.slug
        ours = plan_branch(self.repository, slug)
        return Refusal(
            f"Not landed: {_named(found)} changed on {branch} too, and the two changes conflict.",
            f"Commit {found.commit[:10]} conflicts. "
            f"Nothing moved: {branch}, your files and {ours} are unchanged. A merge by hand lands it.",
            f"`git switch {branch} && git merge {ours}`",
            f"drop the proven work, to run it again: `asbuilt land {slug} --undo`",
        )


class Reverts(Struct, frozen=True):
    """Commits that revert landed phases, newest first, with the reopened plan as the last commit."""

    record: Record
    repository: Repository
    proving: Proving
    document: Document
    facts: UndoFacts

    def build(self, onto: str, *, sign: bool) -> candidates.Candidate | Refusal:
        """Revert the commits that the target still has."""
        there = commits_on(self.repository, self.facts, onto)
        wanted = [landed.landed_as for landed in self.facts.undoes if there.get(landed.landed_as) is False]
        by = self.record.author()
        found = candidates.revert(
            self.repository, onto=onto, commits=wanted, run=self.record.run.run, by=by, sign=sign
        )
        if isinstance(found, candidates.Conflict):
            return self._conflict(found, onto)
        before = self.document.committed(onto)
        if before is None or not self.facts.undoes:
            return found
        edit = self.document.edit(reopened(before, reopens(self.facts)), f"Reopen {self.record.run.plan}")
        return candidates.add_files(self.repository, found, edit, run=self.record.run.run, sign=sign)

    def _conflict(self, found: candidates.Conflict, onto: str) -> Refusal:
        branch, slug = self.record.run.options.branch, self.record.run.options.slug
        merge = commits.merge_of(self.repository, found.commit, onto)
        shown = f"`git log --oneline {found.commit[:10]}..{branch}`"
        # What was merged by hand is reverted by hand, with the changes that the merge made to it.
        revert = f"`git switch {branch} &&` `git revert -m 1 {merge[:10]}`"
        return Refusal(
            f"Not undone: {_named(found)} changed on {branch} since, and cannot be reverted alone.",
            f"Commit {found.commit[:10]} conflicts. Nothing moved: {branch} and your files are unchanged. "
            f"Revert {'the merge' if merge else 'the later changes'} first.",
            revert if merge else shown,
            f"then undo again: `asbuilt land {slug} --undo`",
        )

    def refusal(self, candidate: candidates.Candidate) -> Refusal | None:
        """Run the tests on the tree without them; what fails runs again, held to what the target has now."""
        if candidate.tip == candidate.onto:
            return None
        newest = self.facts.undoes[-1]
        if not _failing(self._target.on(candidate.tip, newest)):
            return None
        now = self._target.now(candidate.onto)
        failing = _failing(self._target.on(candidate.tip, newest, now))
        if not failing:
            return None
        branch, slug = self.record.run.options.branch, self.record.run.options.slug
        kept, again = self.record.keep(failing), f"asbuilt land {slug} --undo"
        if red := _failing(now):
            return _red_target(branch, candidate, f"Not undone: {branch}", again, _mending(red, branch), kept)
        return Refusal(
            f"Not undone: on {branch} without this work, `{failing[0].command}` fails: {failing[0].why}.",
            "Later commits need what the undo would remove. Nothing moved. Revert them first.",
            f"`git log --oneline {newest.landed_as[:10]}..{branch}`",
            f"then undo again: `{again}`",
            kept,
        )

    @property
    def _target(self) -> TargetTests:
        return TargetTests(self.record, self.repository, self.proving, reverts=True)

    def details(self, candidate: candidates.Candidate) -> str:
        """Keep which commits were reverted by which."""
        payload = {
            "reverts": [list(pair) for pair in candidate.commits],
            "marks": candidate.tip != candidate.top,
        }
        return self.record.blobs.put_json(payload)


def commits_on(repository: Repository, facts: UndoFacts, at: str) -> dict[str, bool]:
    """Return the commits of the undone work in a history, and whether each is reverted there."""
    runs = sorted({landed.run for landed in facts.undoes})
    return {outcome.commit: outcome.undone for outcome in commits.outcomes(repository, at, *runs)}


def reopens(facts: UndoFacts) -> list[str]:
    """List the phases that an undo reopens."""
    return list(dict.fromkeys(landed.phase for landed in facts.undoes))


def completion(record: Record, facts: DeliveryFacts) -> datetime | None:
    """Return when the plan was completed, if this landing completes it; else None."""
    if not facts.phases or not facts.done >= facts.phases.keys():
        return None
    key = f"{facts.works[-1].phase}/proven" if facts.works else "started"
    return datetime.fromisoformat(record.at(key))


def _red_target(
    branch: str, candidate: candidates.Candidate, what: str, again: str, mending: str, kept: str
) -> Refusal:
    return Refusal(
        f"{what} itself fails its tests at {candidate.onto[:10]}.",
        f"On a red target nothing could be proven. Nothing moved. Fix {branch} first.",
        mending,
        f"then: `{again}`",
        kept,
    )


def _mending(failing: Sequence[Evidence], branch: str) -> str:
    """Return the command that shows the first failure, as advice."""
    command = failing[0].command
    is_row = len(command) <= _ROW and not set(command) & {"`", "\n"}
    shown = command if is_row else "asbuilt doctor --tests"
    return f"`{shown}` `# fails on {branch}: commit a fix there`"


def _failing(shown: Sequence[Evidence]) -> list[Evidence]:
    return [evidence for evidence in shown if evidence.outcome != "PASS"]


def _named(found: candidates.Conflict) -> str:
    return ", ".join(found.paths[:_NAMED]) or "its files"
