"""A performer that does nothing outside: each move writes the events that the real one would write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, assert_never

from asbuilt.events.attempts import (
    AttemptBegun,
    AttemptEnded,
    ChecksDone,
    TogetherDone,
    TogetherJudged,
    TreeKept,
    VerdictGiven,
    VerifierBegun,
)
from asbuilt.events.landings import LandingDone, LandingIntended, LandingTidied
from asbuilt.events.options_json import plain_options, read_options
from asbuilt.events.phases import BaselineDone, PhaseBegun, PhaseProven, SetupDone, WorkspaceMade
from asbuilt.events.plans import PlanCompared, PlanMarked
from asbuilt.events.runs import ReportWritten, RunStarted
from asbuilt.flows.engine.fence import Signals
from asbuilt.flows.run.record import Record
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL, Address, new_id
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run import moves
from asbuilt.proof.projects.model import NoTests
from asbuilt.proof.projects.recorded import written

if TYPE_CHECKING:
    from asbuilt.flows.engine.fence import Fenced
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.home import Home
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.kinds import Facts
    from asbuilt.lifecycle.run.proving import ProvingFacts

REPO: Final = "6f9c"
COMMIT: Final = "7be20c1" + "0" * 33


def ask_for_runs(store: Store, number: int, *, of_phases: int) -> None:
    """Ask for runs of as many plans, as the command does."""
    for _ in range(number):
        run = new_id()
        address = Address(LOCAL, REPO, f"plans/{run}.md")
        options = {"slug": run, "mode": "finish", "auto": True, "hold": False, "phases": of_phases}
        options |= {"branch": "main", "agent": "scripted", "checkout": "/", "ring_required": False}
        with store.write() as session:
            runs.request(session, address, run=run, slug=run, options=read_options(options), actor="you")


class Noop:
    """Replaces the real performer: records each move and does nothing."""

    def __init__(self, home: Home, blobs: Blobs) -> None:
        self.home = home
        self._blobs = blobs
        self.signals = Signals()

    def remove_workspaces(self, run: Run) -> None:
        """Do nothing: there are none."""

    def perform(self, run: Run, facts: Facts, move: moves.Move, fenced: Fenced) -> None:
        """Write down that a move was made."""
        record = Record(run=run, store=fenced, blobs=self._blobs)
        if not isinstance(facts, PlanFacts):
            raise TypeError(facts.kind)
        match move:
            case moves.Start():
                self._start(record, int(plain_options(run.options)["phases"]))
            case moves.ResolveTests():
                record.append(written(NoTests()), "tests")
            case moves.MakeWorkspace():
                record.append(WorkspaceMade(lane="main"), "workspace")
            case moves.SetUp():
                record.append(SetupDone(outcome="PASS", digest="none"), "setup")
            case moves.Baseline():
                record.append(BaselineDone(outcome="PASS", why="no tests"), "baseline")
            case moves.Compare(point=point):
                record.append(PlanCompared(point=point), f"compared/{point}")
            case moves.ProveTogether():
                record.append(TogetherDone(outcome="PASS", evidence="sha256:0"), "together")
            case moves.VerifyTogether():
                record.append(TogetherJudged(outcome="PASS"), "together/judged")
            case moves.Report():
                record.append(ReportWritten(report=self.report(run, facts)), "report")
            case moves.Land():
                commits = tuple((work.phase, run.run, work.commit, COMMIT) for work in facts.pending)
                record.append(LandingIntended(old=COMMIT, new=COMMIT), "landing/1/intended")
                record.append(LandingDone(new=COMMIT, commits=commits), "landing/1/done")
            case moves.Mark():
                record.append(PlanMarked(), "marked")
            case moves.Tidy():
                record.append(LandingTidied(), "tidied")
            case moves.Ask() | moves.Wait() | moves.End() | moves.Recheck():
                raise ValueError(move)
            case moves.Judge() | moves.Draft() | moves.File() | moves.CheckInvariants() | moves.Post():
                raise ValueError(move)
            case moves.Delegate() | moves.ProveDelegated():
                raise ValueError(move)
            case (
                moves.Look()
                | moves.Push()
                | moves.Propose()
                | moves.Mend()
                | moves.Merge()
                | moves.CloseIssues()
                | moves.Delegate()
                | moves.ProveDelegated()
                | moves.Fork()
                | moves.Join()
                | moves.MergePhase()
            ):
                raise ValueError(move)
            case _:
                self.work(record, facts, move)

    def work(
        self,
        record: Record,
        facts: Facts,
        move: moves.Begin | moves.Attempt | moves.Keep | moves.Check | moves.Verify | moves.Commit,
    ) -> None:
        """Write down that something was made of a phase."""
        del facts
        phase = move.phase
        if isinstance(move, moves.Begin):
            text = self._blobs.put(f"# Plan\n\n## Phase {phase} — Some\n\n- [ ] something\n".encode())
            record.append(PhaseBegun(phase=phase, intent="sha256:1", text=text), f"{phase}/begun")
            return
        number, key = move.number, f"{phase}/{move.number}"
        match move:
            case moves.Attempt(role=role):
                begun = AttemptBegun(phase=phase, number=number, role=role, agent="scripted")
                record.append(begun, f"{key}/begun/1")
                record.append(_ended(phase, number), f"{key}/ended/1")
            case moves.Keep():
                kept = TreeKept(phase=phase, number=number, commit=COMMIT, tree=COMMIT, changed=True)
                record.append(kept, f"{key}/kept")
            case moves.Check():
                record.append(ChecksDone(phase=phase, number=number, outcome="PASS"), f"{key}/checks")
            case moves.Verify():
                record.append(VerifierBegun(phase=phase, number=number), f"{key}v/begun")
                record.append(VerdictGiven(phase=phase, number=number, outcome="PASS"), f"{key}/verdict")
            case moves.Commit():
                record.append(PhaseProven(phase=phase, commit=f"{int(phase):040x}"), f"{phase}/proven")
            case _:
                assert_never(move)

    def report(self, run: Run, facts: ProvingFacts, now: str = "") -> str:
        """Write no account."""
        del run, facts, now
        return "sha256:3"

    def _start(self, record: Record, number: int) -> None:
        names = [str(one) for one in range(1, number + 1)]
        outline = {
            "phases": {name: [] for name in names},
            "titles": {name: f"Phase {name}" for name in names},
            "done": [],
            "unlanded": [],
        }
        digest = self._blobs.put(json.dumps(outline).encode())
        record.append(RunStarted(base=COMMIT, ring="bwrap", outline=digest), "started")


def _ended(phase: str, number: int) -> AttemptEnded:
    return AttemptEnded(
        phase=phase,
        number=number,
        ending="done",
        starts=1,
        says="done",
        attempt=f"{phase}.{number}",
        cost_usd=0.0,
        ring="none",
    )
