"""A performer that does nothing outside: each move writes the events that the real one would write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, assert_never

from asbuilt.flows.record import Record
from asbuilt.flows.tidings import Tidings
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL, Address, new_id
from asbuilt.lifecycle import moves, phases
from asbuilt.proof.projects.model import NoTests
from asbuilt.proof.projects.resolving import written

if TYPE_CHECKING:
    from asbuilt.flows.fencing import Fenced
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Store
    from asbuilt.lifecycle.facts import RunFacts

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
            runs.request(session, address, run=run, slug=run, options=options, actor="you")


class Noop:
    """What stands where the real performer stands."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self.tidings = Tidings()

    def perform(self, run: Run, facts: RunFacts, move: phases.Move, fenced: Fenced) -> None:
        """Write down that a move was made."""
        record = Record(run=run, store=fenced, blobs=self._blobs, workflow=fenced.segment.workflow)
        match move:
            case phases.Start():
                self._start(record, int(run.options["phases"]))
            case phases.ResolveTests():
                record.say("tests.resolved", "tests", **written(NoTests()), agreed=None)
            case phases.MakeWorkspace():
                record.say("workspace.made", "workspace", lane="main")
            case phases.SetUp():
                record.say("setup.done", "setup", outcome="PASS", command=None, digest="none", why="")
            case phases.Baseline():
                record.say("baseline.done", "baseline", outcome="PASS", why="no tests")
            case phases.Compare(point=point):
                record.say("plan.compared", f"compared/{point}", point=point)
            case phases.ProveTogether():
                record.say("together.done", "together", outcome="PASS", evidence="sha256:0", reused=[])
            case phases.VerifyTogether():
                record.say("together.judged", "together/judged", outcome="PASS", failures=[])
            case phases.Report():
                record.say("report.written", "report", report=self.report(run, facts))
            case phases.Land():
                commits = [[work.phase, run.run, work.commit, COMMIT] for work in facts.pending]
                record.say("landing.intended", "landing/1/intended", old=COMMIT, new=COMMIT)
                record.say("landing.done", "landing/1/done", new=COMMIT, commits=commits)
            case phases.Mark():
                record.say("plan.marked", "marked")
            case phases.Tidy():
                record.say("landing.tidied", "tidied")
            case phases.Ask() | phases.Wait() | phases.End() | phases.Recheck():
                raise ValueError(move)
            case moves.Judge() | moves.Draft() | moves.File() | moves.CheckInvariants() | moves.Post():
                raise ValueError(move)
            case (
                moves.Look()
                | moves.Push()
                | moves.Propose()
                | moves.Mend()
                | moves.Merge()
                | moves.CloseIssues()
            ):
                raise ValueError(move)
            case _:
                self.work(record, facts, move)

    def work(
        self,
        record: Record,
        facts: RunFacts,
        move: phases.Begin | phases.Attempt | phases.Keep | phases.Check | phases.Verify | phases.Commit,
    ) -> None:
        """Write down that something was made of a phase."""
        del facts
        phase = move.phase
        if isinstance(move, phases.Begin):
            text = self._blobs.put(f"# Plan\n\n## Phase {phase} — Some\n\n- [ ] something\n".encode())
            record.say("phase.begun", f"{phase}/begun", phase=phase, intent="sha256:1", text=text)
            return
        key, about = f"{phase}/{move.number}", {"phase": phase, "number": move.number}
        match move:
            case phases.Attempt(role=role):
                record.say("attempt.begun", f"{key}/begun/1", **about, role=role, agent="scripted")
                record.say(
                    "attempt.ended", f"{key}/ended/1", **about, ending="done", reason="", starts=1,
                    says="done", attempt=f"{phase}.{move.number}", cost_usd=0.0, ring="none",
                )  # fmt: skip
            case phases.Keep():
                record.say("tree.kept", f"{key}/kept", **about, commit=COMMIT, tree=COMMIT, changed=True)
            case phases.Check():
                record.say("checks.done", f"{key}/checks", **about, outcome="PASS", failures=[])
            case phases.Verify():
                record.say("verifier.begun", f"{key}v/begun", **about)
                record.say("verdict.given", f"{key}/verdict", **about, outcome="PASS", failures=[])
            case phases.Commit():
                commit = f"{int(phase):040x}"
                record.say("phase.proven", f"{phase}/proven", phase=phase, commit=commit)
            case _:
                assert_never(move)

    def report(self, run: Run, facts: RunFacts, now: str = "") -> str:
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
        record.say("run.started", "started", base=COMMIT, ring="bwrap", outline=digest)
