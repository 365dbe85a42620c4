"""What holds at every moment, and what holds once everything is at rest.

The one rule: a law looks at rows, refs and files, never at what anybody meant to do.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked
from asbuilt.events.attempts import AttemptBegun, TogetherJudging, TreeKept, VerifierBegun
from asbuilt.events.event import phase_of
from asbuilt.events.landings import LandingIntended
from asbuilt.events.phases import PhaseBegun, PhaseForked, PhaseJoined, PhaseMerged, PhaseProven
from asbuilt.events.runs import ClaimAcquired, ClaimBroken, ClaimReleased, PauseAsked, ResumeAsked, RunEnded
from asbuilt.git.commits import PHASE, RUN, trailer
from asbuilt.journal import approvals, claims, runs
from asbuilt.journal.drafts import drafts_of
from asbuilt.journal.encoding.codec import entry_of, fields_of
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import events_of, facts_of
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.run.facts import MERGE
from asbuilt.lifecycle.run.retry_times import moment
from asbuilt.lifecycle.status.plan_state import fold_plan
from asbuilt.plan.markdown.source import digest
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read
from tests.simulator.account_laws import AccountLaws
from tests.simulator.bench import passes_check, passes_tests
from tests.simulator.lane_laws import LaneLaws
from tests.simulator.model_git import outcomes
from tests.simulator.stage import Unlawful
from tests.simulator.story import REPO

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.events.event import Entry
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.kinds import Facts
    from tests.simulator.durable import Durable
    from tests.simulator.hosts import Hosts
    from tests.simulator.ledger import Ledger
    from tests.simulator.model_git import Model
    from tests.simulator.people import People
    from tests.simulator.story import Story

_MAIN = "refs/heads/main"
_OPEN = """
SELECT r.run, r.plan, r.state, r.ended_at, r.stop,
  (SELECT group_concat(s.lane) FROM (SELECT * FROM segments ORDER BY lane) s WHERE s.org = r.org
   AND s.repo = r.repo AND s.run = r.run AND s.closed_at IS NULL) AS open,
  (SELECT max(due_at) FROM segments s WHERE s.org = r.org AND s.repo = r.repo AND s.run = r.run
   AND s.closed_at IS NULL AND (s.lane != '' OR NOT EXISTS (SELECT 1 FROM segments o WHERE o.org = r.org
   AND o.repo = r.repo AND o.run = r.run AND o.lane != '' AND o.closed_at IS NULL))) AS due,
  (SELECT count(*) FROM approvals a WHERE a.org = r.org AND a.repo = r.repo AND a.run = r.run
   AND a.answer IS NULL) AS asked,
  (SELECT count(*) FROM segments s JOIN breakers b ON b.org = s.org AND b.account = s.account
   AND b.until IS NULL WHERE s.org = r.org AND s.repo = r.repo AND s.run = r.run
   AND s.closed_at IS NULL) AS login,
  (SELECT c.run FROM claims c WHERE c.org = r.org AND c.repo = r.repo AND c.plan = r.plan) AS owner
FROM runs r"""


class Laws:
    """The laws of one world."""

    def __init__(
        self, story: Story, ledger: Ledger, blobs: Blobs, model: Model, hosts: Hosts, people: People
    ) -> None:
        self._story = story
        self._ledger = ledger
        self._blobs = blobs
        self._model = model
        self._hosts = hosts
        self._people = people
        self._seen = 0
        self._owners: dict[str, str | None] = {}
        self._broken: set[str] = set()
        self._paused: set[str] = set()
        self._ended: dict[str, str] = {}
        self._answers: dict[int, str] = {}
        self.lanes = LaneLaws(ledger, blobs, model)
        self._accounts = AccountLaws(ledger)
        self.dues: set[str] = set()
        """When something is due that is not due yet."""
        self.tell = model.stage.tell

    def written(self) -> None:
        """Hold after every transaction."""
        session = self._ledger.look()
        columns = "feed, plan, seq, key, kind, v, at, actor, data"
        rows = session.rows(f"SELECT {columns} FROM events WHERE feed > :seen ORDER BY feed", seen=self._seen)
        for row in rows:
            self._seen, plan = row.pop("feed"), row.pop("plan")
            self._heard(plan, entry_of(**row))
        for row in session.rows(_OPEN):
            self._row(row)
        self._accounts.written()
        dues = session.rows(
            "SELECT due_at FROM segments WHERE closed_at IS NULL AND due_at < :far", far=runs.FAR
        )
        self.dues |= {row["due_at"] for row in dues}

    def _heard(self, plan: str, entry: Entry) -> None:
        run, event = entry.run or "", entry.event
        self.tell(f"  {entry.kind} {entry.key} {_shown(fields_of(event))}")
        owner = self._owners.get(plan)
        match event:
            case ClaimAcquired():
                if owner is not None:
                    raise Unlawful(f"{run} takes {plan} while {owner} owns it")
                self._owners[plan] = run
            case ClaimReleased() | ClaimBroken():
                self._owners[plan] = None
                if isinstance(event, ClaimBroken):
                    self._broken.add(run)
            case PauseAsked():
                self._paused.add(run)
            case ResumeAsked():
                self._paused.discard(run)
            case RunEnded():
                self._ended[run] = event.state
                self.lanes.ended(run, event)
                if "somebody else" in event.reason and not self._people.broke:
                    raise Unlawful(f"{run} blames somebody, and nobody did anything: {event.reason}")
            case ApprovalAsked():
                self._asked_anew(plan, event)
                self._people.hear(event.number, event.key)
            case ApprovalAnswered():
                if event.number in self._answers:
                    raise Unlawful(f"a{event.number} is answered twice")
                self._answers[event.number] = event.answer
            case PhaseForked() | PhaseJoined() | PhaseMerged():
                self.lanes.moved(run, event)
            case PhaseBegun() | AttemptBegun() | TreeKept() | PhaseProven() | LandingIntended():
                if isinstance(event, PhaseProven):
                    self.lanes.proven(run, event)
                if owner != run and run not in self._broken:
                    raise Unlawful(f"{run} works on {plan}, which is {owner}'s")
                if run in self._ended:
                    raise Unlawful(f"{run} works on although it is over: {self._ended[run]}")
            case _:
                pass
        if isinstance(event, AttemptBegun | VerifierBegun | TogetherJudging):
            phase = phase_of(event) or ""
            self._accounts.begun(run, phase if phase in self.lanes.of(run) else "")

    def _asked_anew(self, plan: str, event: ApprovalAsked) -> None:
        """See that nobody is asked what they have answered for the same plan, in whatever authoring."""
        if event.about != "question":
            return
        asked = approvals.named(self._ledger.look(), LOCAL, REPO, event.number)
        known = self._ledger.look().rows(
            "SELECT number FROM approvals WHERE plan = :plan AND kind = 'question' AND question = :words"
            " AND answer IN ('yes', 'no')",
            plan=plan,
            words=asked.question if asked else "",
        )
        if known:
            raise Unlawful(f"a{event.number} asks what a{known[0]['number']} has been told")

    def _row(self, row: dict[str, Any]) -> None:
        run, is_over = row["run"], row["ended_at"] is not None
        lanes = self.lanes.of(run)
        if row["open"] != (None if is_over and not lanes else ",".join(["", *sorted(lanes)])):
            raise Unlawful(
                f"{run} is {row['state']} and has open segments of {row['open']!r}, not of {lanes}"
            )
        if is_over != (row["state"] in runs.ENDED) or (is_over and self._ended.get(run) != row["state"]):
            raise Unlawful(f"{run} is {row['state']}, ended: {is_over}, as written: {self._ended.get(run)}")
        if is_over and row["owner"] == run:
            raise Unlawful(f"{run} is over and still owns {row['plan']}")
        if not is_over and row["owner"] != run and run not in self._broken:
            raise Unlawful(f"{run} is open and {row['plan']} is {row['owner']}'s")
        if row["due"] == runs.FAR and (
            row["stop"] or not (row["asked"] or row["login"] or run in self._paused)
        ):
            raise Unlawful(f"{run} waits for a person, and there is nothing that anybody could say")

    def recorded(self) -> None:
        """Hold after every step."""
        answered = self._ledger.look().rows("SELECT number, answer FROM approvals WHERE answer IS NOT NULL")
        for row in answered:
            if self._answers.get(row["number"]) != row["answer"]:
                raise Unlawful(
                    f"a{row['number']} was answered {self._answers.get(row['number'])}, then {row}"
                )

    def moved(self, ref: str, old: str | None, new: str) -> None:
        """Hold whenever a ref has moved."""
        if ref != _MAIN or old is None:
            return
        model = self._model
        if old not in model.history(new):
            raise Unlawful(f"{ref} has lost {old[:7]}")
        fresh = [name for name in reversed(model.history(new)) if name not in model.history(old)]
        ours = [name for name in fresh if trailer(model.commits[name].message, RUN)]
        for name in ours:
            self._landed(name)
        if ours and all(name in ours for name in fresh):
            self._tests(new, ours)
        self._once(new)
        self._marks(new)

    def _landed(self, name: str) -> None:
        """See that a commit of ours holds what its phase promises, and that somebody has judged it."""
        commit = self._model.commits[name]
        run, phase = trailer(commit.message, RUN), trailer(commit.message, PHASE)
        if phase is None or run is None:
            return
        found = runs.find(self._ledger.look(), LOCAL, REPO, run)
        if found is None:
            raise Unlawful(f"{name[:7]} is of {run}, which nobody has asked for")
        script = next(one for one in self._story.scripts if one.path == found.plan)
        if not passes_check(self._model.trees[commit.tree], f"check {script.slug}-{phase}"):
            raise Unlawful(f"phase {phase} of {run} has landed and its check fails")
        facts = facts_of(self._ledger.look(), self._blobs, found)
        last = next(one for one in reversed(facts.phases[phase].attempts) if one.role != MERGE)
        judged = self._hosts.judged.get(f"{run}.{phase}.{last.number}")
        said = judged.verdict if judged is not None else None
        unmet = {entry.item for entry in said.entries if entry.outcome != "PASS"} if said else set()
        is_told = last.checks == "PASS" and (last.verdict == "PASS" or bool(unmet))
        if not is_told or said is None or not all(self._is_waived(facts, phase, item) for item in unmet):
            raise Unlawful(f"phase {phase} of {run} has landed and was not proven")

    def _is_waived(self, facts: Facts, phase: str, item: int) -> bool:
        """Tell whether a person has accepted an item of a phase's intent as it is."""
        under = f"waiver/{facts.phases[phase].intent}/{item}/"
        answered = approvals.last_answered(self._ledger.look(), LOCAL, REPO, under=under)
        return answered is not None and answered.answer == "yes"

    def _tests(self, new: str, ours: list[str]) -> None:
        """See that the tests pass on what has landed, where there are tests."""
        run = trailer(self._model.commits[ours[-1]].message, RUN) or ""
        found = runs.find(self._ledger.look(), LOCAL, REPO, run)
        if found is None or found.options.tests != "run-tests":
            return
        files = self._model.files(new)
        if not passes_tests(files):
            raise Unlawful(f"{run} has landed {new[:7]}, on which the tests fail")
        proven = {tree for tree, command, passed in self._model.shown if command == "run-tests" and passed}
        # What the marks are laid upon: the last phase that lands, or what a person has merged by hand.
        phases = [one for one in ours if trailer(self._model.commits[one].message, PHASE)]
        below = phases[-1] if phases else self._model.commits[ours[0]].parents[0]
        if not proven & {self._model.commits[one].tree for one in (new, below)}:
            raise Unlawful(f"{run} has landed {new[:7]}, and no test has run on it")

    def _once(self, at: str) -> None:
        for run in {trailer(self._model.commits[one].message, RUN) for one in self._model.history(at)}:
            if run is None:
                continue
            landed_as = Counter(
                one.phase for one in outcomes(self._model, at, run) if one.phase and not one.undone
            )
            twice = [phase for phase, times in landed_as.items() if times > 1]
            if twice:
                raise Unlawful(f"phase {twice[0]} of {run} stands twice")

    def _marks(self, at: str) -> None:
        for plan in self._model.plans:
            text = self._model.files(at).get(plan)
            if text is not None and plan not in self._people.edited:
                self._marked(plan, text)

    def spliced(self, file: Path, data: bytes) -> None:
        """Hold whenever a plan's file was written in the checkout."""
        if file.name not in self._people.edited:
            self._marked(file.name, data)

    def _marked(self, plan: str, text: bytes) -> None:
        """See that a plan calls nothing done that the target does not have."""
        there = {
            trailer(self._model.commits[name].message, PHASE)
            for name in self._model.history(self._model.refs[_MAIN])
            if self._is_of(plan, trailer(self._model.commits[name].message, RUN))
        }
        for phase in read(text).phases:
            if phase.status is Status.DONE and phase.id not in there:
                raise Unlawful(f"{plan} calls phase {phase.id} done, and {_MAIN} does not have it")

    def _is_of(self, plan: str, run: str | None) -> bool:
        found = runs.find(self._ledger.look(), LOCAL, REPO, run) if run else None
        return found is not None and found.plan == plan

    def at_rest(self, durable: Durable) -> None:
        """Hold when nothing happens any more by itself."""
        session = self._ledger.look()
        if self._hosts.living:
            raise Unlawful(f"{[*self._hosts.living]} live on, and nobody waits for them")
        for segment in runs.open_segments(session, LOCAL):
            known = durable.workflows.get(segment.workflow)
            if segment.due_at != runs.FAR:
                raise Unlawful(f"{segment.workflow} is due at {segment.due_at} and is not handled: {known}")
            if known is not None:
                raise Unlawful(f"{segment.workflow} waits for a person, and the engine has begun it: {known}")

    def at_end(self) -> None:
        """Hold when everybody has said whatever they were asked."""
        session = self._ledger.look()
        still = runs.open_of(session, LOCAL)
        if still:
            raise Unlawful(f"{still[0].run} is {still[0].state} and never ends")
        if claims.every(session, LOCAL):
            raise Unlawful("a claim is left")
        for script in self._story.scripts:
            address = Address(LOCAL, REPO, script.path)
            for run in runs.of_plan(session, address):
                self._has_worked(run)
            if script.tracked == "absent":
                self._is_authored(address)
            else:
                self._plan(address, script.path)

    def _has_worked(self, run: Run) -> None:
        """See that nothing counts as work but what lies between a segment's due time and its end."""
        rows = self._ledger.look().rows(
            "SELECT due_at, closed_at FROM segments WHERE run = :run", run=run.run
        )
        open_s = sum((moment(row["closed_at"]) - moment(row["due_at"])).total_seconds() for row in rows)
        # Times are written down to a millisecond; sums of them are off by less than that.
        worked_s = facts_of(self._ledger.look(), self._blobs, run).time.worked_s(run.ended_at or "")
        if not 0 <= round(worked_s, 3) <= round(open_s, 3):
            raise Unlawful(f"{run.run} is said to have worked {worked_s} s, and was awake for {open_s} s")

    def _is_authored(self, address: Address) -> None:
        """See that a plan's file is there only by a yes to its text, and that nothing is asked any more."""
        session = self._ledger.look()
        if approvals.waiting(session, LOCAL, REPO):
            raise Unlawful("every authoring is over, and one still asks")
        approved = drafts_of(session, address).approved
        file = self._model.root / address.plan
        is_filed = any(run.state == "done" for run in runs.of_plan(session, address))
        if is_filed and not file.exists():
            raise Unlawful(f"{address.plan} is said to be written")
        if file.exists() and digest(file.read_bytes()) not in {one.digest for one in approved}:
            raise Unlawful(f"{address.plan} is written, and nobody has said yes to it")

    def _plan(self, address: Address, plan: str) -> None:
        session = self._ledger.look()
        keys = [event.seq for event in history(session, address)]
        if keys != [*range(1, len(keys) + 1)]:
            raise Unlawful(f"the events of {plan} have gaps: {keys}")
        told = events_of(session, self._blobs, address)
        standing = fold_plan(told)
        listed = runs.of_plan(session, address)
        landed_as = {one.landed_as for landing in standing.landings for one in landing.landed}
        at = self._model.refs[_MAIN]
        for run in listed:
            for one in outcomes(self._model, at, run.run):
                if (
                    one.phase
                    and not one.undone
                    and one.commit not in landed_as | {work.commit for work in standing.proven}
                ):
                    raise Unlawful(f"{one.commit[:7]} of {run.run} has landed and the journal does not know")
        missing = [one[:7] for one in landed_as if one not in self._model.history(at)]
        if missing:
            raise Unlawful(f"the journal calls {missing} landed, and {_MAIN} does not have them")
        if plan not in self._people.edited and all(map(self._is_marked, listed)):
            self._is_written(plan, {one.phase for landing in standing.landings for one in landing.landed})

    def _is_marked(self, run: Run) -> bool:
        """Tell whether a run has written into the plan what it has landed; one that trouble ended has not."""
        facts = facts_of(self._ledger.look(), self._blobs, run)
        return not isinstance(facts, DeliveryFacts) or facts.marked

    def _is_written(self, plan: str, landed: set[str]) -> None:
        done = {
            phase.id
            for phase in read((self._model.root / plan).read_bytes()).phases
            if phase.status is Status.DONE
        }
        if done != landed:
            raise Unlawful(f"{plan} calls {sorted(done)} done, and {sorted(landed)} have landed")


def _shown(data: dict[str, Any]) -> str:
    names = ("outcome", "ending", "state", "reason", "why", "until", "what", "commit", "new", "answer")
    return " ".join(f"{name}={str(data[name])[:60]}" for name in names if data.get(name))
