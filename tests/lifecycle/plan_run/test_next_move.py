from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.events.options import RunOptions
from asbuilt.events.options_json import read_options
from asbuilt.events.phases import PhaseBegun, PhaseProven
from asbuilt.events.runs import WaitReason
from asbuilt.journal.encoding.codec import fields_of
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.limits import FIX_LIMIT, TRANSIENT_LIMIT
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.moves import End, Move
from asbuilt.proof.projects.model import Detected, Given, NoTests, Suite, Unknown
from asbuilt.proof.projects.recorded import written
from tests.support.happened import happened

if TYPE_CHECKING:
    from asbuilt.events.event import Entry

RUN = "r1"
NOW = "2026-11-15T02:00:00.000Z"
LATER = "2026-11-15T05:00:00.000Z"
RESOLVED: dict[str, dict[str, Any]] = {
    "given": fields_of(written(Given((Suite("", "make test"),)))),
    "detected": fields_of(written(Detected((Suite("", "uv run pytest -q"),), ("pyproject.toml",)))),
    "unknown": fields_of(written(Unknown(("tests/all.sh",)))),
    "notests": fields_of(written(NoTests())),
}
DIAMOND = {"1": [], "2a": ["1"], "2b": ["1"], "3": ["2a", "2b"]}
OUTCOMES = ("PASS", "PASS", "PASS", "FAIL", "NOT_RUN", "INDETERMINATE")


@dataclass
class World:
    """Performs moves as a run would, answering by chance; everything it knows is its list of events."""

    options: dict[str, Any]
    answers: st.DataObject
    plan: dict[str, list[str]] = field(default_factory=lambda: DIAMOND)
    events: list[Entry] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    landings: list[PlanFacts] = field(default_factory=list)
    """What was known at each landing."""
    now: str = NOW

    def facts(self) -> PlanFacts:
        facts = fold(RUN, read_options(self.options), self.events)
        assert isinstance(facts, PlanFacts)
        return facts

    def live(self) -> End:
        for _ in range(500):
            move = next_move(self.facts(), self.now)
            self.moves.append(move)
            if isinstance(move, End):
                return move
            self.perform(move)
        raise AssertionError(self.moves)

    def _say(self, kind: str, **data: object) -> None:
        self.events += happened([(kind, {"run": RUN, **data})], first=len(self.events) + 1)

    def _draw(self, *choices: str) -> str:
        return self.answers.draw(st.sampled_from(choices))

    def _compare(self, point: str) -> None:
        for work in self.facts().pending:
            if self._draw("same", "same", "same", "same", "changed") == "changed":
                self._say(
                    "plan.differs", phase=work.phase, point=point, commit=work.commit, intent="sha256:2"
                )
            if self._draw("nothing", "nothing", "nothing", "a change") == "a change":
                self._say("signoff.wanted", item=f"sign-off/{work.phase}", phase=work.phase, question="?")
        self._say("plan.compared", point=point)

    def perform(self, move: Move) -> None:
        match move:
            case moves.Start():
                self._say("run.started", base="b0", phases=self.plan, done=[])
            case moves.ResolveTests():
                source = self._draw("given", "given", "detected", "unknown", "notests")
                agreed = self._draw("a1", "") or None
                self._say("tests.resolved", agreed=agreed, **RESOLVED[source])
            case moves.MakeWorkspace():
                self._say("workspace.made")
            case moves.SetUp():
                self._say("setup.done", outcome=self._draw("PASS", "PASS", "PASS", "FAIL"))
            case moves.Baseline():
                self._say("baseline.done", outcome=self._draw("PASS", "PASS", "NOT_RUN", "INDETERMINATE"))
            case moves.Begin(phase=phase):
                self._say("phase.begun", phase=phase, intent="sha256:1")
            case moves.Attempt(phase=phase, number=number, role=role):
                self._say("attempt.begun", phase=phase, number=number, role=role)
                ending = self._draw("done", "done", "done", "stalled", "crashed", "limited", "abandoned")
                cause = self._cause(ending)
                self._say(
                    "attempt.ended", phase=phase, number=number, ending=ending, cause=cause, resets_at=LATER
                )
            case moves.Keep(phase=phase, number=number):
                changed = self._draw("yes", "yes", "yes", "no") == "yes"
                self._say("tree.kept", phase=phase, number=number, commit="c", tree="t", changed=changed)
            case moves.Check(phase=phase, number=number):
                self._say(
                    "checks.done", phase=phase, number=number, outcome=self._draw(*OUTCOMES), failures=["x"]
                )
            case moves.Verify(phase=phase, number=number):
                self._verify(phase, number)
            case moves.Commit(phase=phase):
                self._say("phase.proven", phase=phase, commit=f"c-{phase}")
            case moves.Compare(point=point):
                self._compare(point)
            case moves.Ask(key=key):
                self._say("approval.asked", key=key, number=1)
            case moves.Wait(until=until):
                self._wait(until)
            case moves.ProveTogether():
                self._say("together.done", outcome=self._draw("PASS", "PASS", "FAIL"))
            case moves.VerifyTogether():
                self._verify_together()
            case moves.Report():
                self._say("report.written", report="d")
            case moves.Land():
                self._land()
            case moves.Mark():
                self._say("plan.marked")
            case moves.Tidy():
                self._say("landing.tidied")
            case End():
                raise AssertionError(move)

    def _cause(self, ending: str) -> str | None:
        causes = {"limited": ("", "usage_limit", "overload", "auth"), "crashed": ("", "crash", "refusal")}
        return self._draw(*causes[ending]) or None if ending in causes else None

    def _verify(self, phase: str, number: int) -> None:
        ending = self._draw("done", "done", "done", "crashed", "limited", "abandoned")
        if ending != "done":
            cause = self._cause(ending)
            self._say(
                "verifier.ended", phase=phase, number=number, ending=ending, cause=cause, resets_at=LATER
            )
            return
        outcome = self._draw(*OUTCOMES)
        unproven = [2] if outcome != "PASS" and self._draw("items", "void") == "items" else []
        self._say(
            "verdict.given",
            phase=phase,
            number=number,
            outcome=outcome,
            failures=[{"text": "y"}],
            unproven=unproven,
        )

    def _verify_together(self) -> None:
        ending = self._draw("done", "done", "done", "crashed", "limited", "abandoned")
        if ending == "done":
            self._say("together.judged", outcome=self._draw(*OUTCOMES), failures=[{"text": "z"}])
        else:
            self._say("together.unjudged", ending=ending, resets_at=LATER)

    def _wait(self, until: str | None) -> None:
        if until is None:
            asked = next(key for key, answer in self.facts().approvals.items() if answer is None)
            self._say("approval.answered", key=asked, number=1, answer=self._draw("yes", "yes", "no"))
        else:
            self.now = until

    def _land(self) -> None:
        self.landings.append(self.facts())
        if self._draw("landed", "landed", "refused") == "refused":
            self._say("landing.refused", what="Not landed.", why="A conflict.", next="Merge it.")
            return
        pending = self.facts().pending
        self._say("landing.intended", new="n", old="o")
        self._say("landing.done", new="n", commits=[[*work, f"{work.commit}'"] for work in pending])


# An example is a whole run of up to a hundred moves.
options = st.fixed_dictionaries(
    {"mode": st.sampled_from(["phase", "finish"]), "auto": st.booleans()},
    optional={
        "hold": st.booleans(),
        "phase": st.sampled_from(["1"]),
        "landing": st.sampled_from(["cherry-pick", "direct"]),
    },
)


@given(options, st.data())
def test_a_run_always_ends_and_proves_before_it_commits(
    options: dict[str, Any], answers: st.DataObject
) -> None:
    world = World(options, answers)
    end = world.live()
    facts = world.facts()
    for phase in facts.phases.values():
        assert phase.fixes <= FIX_LIMIT
        if phase.proven:
            last = phase.attempts[-1]
            assert (last.ending, last.checks, last.changed) == ("done", "PASS", True)
            waived = f"waiver/sha256:1/2/{RUN}"
            accepted = last.unproven == (2,) and facts.approvals.get(waived) == "yes" and not facts.auto
            assert last.verdict == "PASS" or accepted
    for then in world.landings:
        assert {then.approvals[found.question.of(RUN)] for found in then.differs.values()} <= {"yes"}
        assert then.compared == (str(len(then.works)) if then.way == "direct" else "landing")
        assert then.together == "PASS" or then.way == "direct"
        is_one = then.mode != "finish" or len(then.pending) == 1
        assert then.whole.verdict == "PASS" or then.way == "direct" or is_one
        assert {then.approvals[f"{key}/{RUN}"] for key in then.sign_offs} <= {"yes"}
        assert not then.hold
    if end.state == "landed":
        assert (facts.marked, facts.landing.tidied, facts.pending) == (True, True, ())
        assert [one.phase for one in facts.landed] == [work.phase for work in facts.works]
    if end.state == "failed":
        assert end.reason


@given(options, st.data())
def test_a_phase_begins_only_when_what_it_needs_is_proven(
    options: dict[str, Any], answers: st.DataObject
) -> None:
    world = World(options, answers)
    world.live()
    proven: set[str] = set()
    for event in (one.event for one in world.events):
        if isinstance(event, PhaseBegun):
            assert set(DIAMOND[event.phase]) <= proven
        elif isinstance(event, PhaseProven):
            proven.add(event.phase)


@given(options, st.data())
def test_a_run_for_one_phase_proves_at_most_one(options: dict[str, Any], answers: st.DataObject) -> None:
    world = World({**options, "mode": "phase"}, answers)
    world.live()
    assert sum(phase.proven is not None for phase in world.facts().phases.values()) <= 1


@given(st.data())
def test_without_auto_somebody_is_asked_between_phases_and_nothing_lands(answers: st.DataObject) -> None:
    world = World({"mode": "finish"}, answers)
    world.live()
    begun = [one.event.phase for one in world.events if isinstance(one.event, PhaseBegun)]
    asked = [move.phase for move in world.moves if isinstance(move, moves.Ask) and "/between/" in move.key]
    assert asked[: len(begun) - 1] == begun[1:]
    assert not any(isinstance(move, moves.Land) for move in world.moves)


def test_events_of_another_run_change_nothing() -> None:
    other = happened([("run.started", {"run": "r2", "base": "b", "phases": {"1": []}})])
    assert fold(RUN, RunOptions(), other) == fold(RUN, RunOptions(), [])


VERIFIED: list[tuple[str, dict[str, Any]]] = [
    ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
    ("tests.resolved", {"run": RUN, **RESOLVED["given"]}),
    ("workspace.made", {"run": RUN}),
    ("setup.done", {"run": RUN, "outcome": "PASS"}),
    ("baseline.done", {"run": RUN, "outcome": "PASS"}),
    ("phase.begun", {"run": RUN, "phase": "1"}),
    ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"}),
    ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "done"}),
    ("tree.kept", {"run": RUN, "phase": "1", "number": 1, "commit": "c", "tree": "t", "changed": True}),
    ("checks.done", {"run": RUN, "phase": "1", "number": 1, "outcome": "PASS"}),
]


def test_a_verifier_that_crashed_is_followed_by_another_and_never_by_a_fix() -> None:
    lost = ("verifier.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "crashed", "reason": "boom"})
    told = [
        next_move(fold(RUN, RunOptions(), happened([*VERIFIED, *[lost] * times])), NOW) for times in range(4)
    ]
    verify = moves.Verify("1", 1)
    assert told == [
        verify, verify, verify, End("failed", "phase 1: the verifier crashed 3 times; last: boom"),
    ]  # fmt: skip


def test_an_attempt_that_nobody_waited_for_goes_on_however_often_that_happens() -> None:
    once = [
        ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"}),
        ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "abandoned"}),
    ]
    facts = fold(RUN, RunOptions(), happened([*VERIFIED[:6], *once * 9]))
    assert next_move(facts, NOW) == moves.Attempt("1", 1, "implement")


PROVEN = [
    *VERIFIED,
    ("verdict.given", {"run": RUN, "phase": "1", "number": 1, "outcome": "PASS"}),
    ("phase.proven", {"run": RUN, "phase": "1", "commit": "c1"}),
]


def test_a_run_that_is_stopped_ends_its_agent_and_keeps_its_files_first() -> None:
    def after(*events: tuple[str, dict[str, Any]]) -> Move:
        facts = fold(RUN, RunOptions(), happened([*VERIFIED[:6], *events]))
        facts.stop = "enough"
        return next_move(facts, NOW)

    begun = ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"})
    ended = ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "cancelled"})
    kept = ("tree.kept", {"run": RUN, "phase": "1", "number": 1, "commit": "c", "tree": "t", "changed": True})
    over = End("stopped", "enough")
    assert [after(), after(begun), after(begun, ended), after(begun, ended, kept)] == [
        over, moves.Attempt("1", 1, "implement"), moves.Keep("1", 1), over,
    ]  # fmt: skip


def test_a_run_that_is_stopped_and_cannot_keep_its_files_tries_again_later_and_not_for_ever() -> None:
    def after(troubles: int, now: str) -> Move:
        met = ("trouble.met", {"run": RUN, "what": "No space left on device", "retry_at": LATER})
        begun = ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"})
        ended = ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "cancelled"})
        asked = ("run.stop_asked", {"run": RUN})
        facts = fold(RUN, RunOptions(), happened([*VERIFIED[:6], begun, ended, asked, *[met] * troubles]))
        facts.stop = "enough"
        return next_move(facts, now)

    keep = moves.Keep("1", 1)
    wait = moves.Wait(WaitReason.TRANSIENT_ERROR, "trouble: No space left on device", LATER)
    limit = TRANSIENT_LIMIT
    over = End("failed", f"stopped by transient errors {limit + 1} times; last: No space left on device")
    assert [after(0, NOW), after(1, NOW), after(1, LATER), after(limit + 1, LATER)] == [
        keep,
        wait,
        keep,
        over,
    ]


def test_trouble_is_waited_out_and_counted_although_somebody_was_told_of_it() -> None:
    met = ("trouble.met", {"run": RUN, "what": "No space left on device", "retry_at": LATER})
    parked = (
        "run.parked",
        {"run": RUN, "reason": "trouble", "why": "trouble: No space left on device", "until": LATER},
    )
    called = ("attention.called", {"run": RUN, "way": "desktop", "about": "run.parked"})
    told = [met, parked, called]
    often = TRANSIENT_LIMIT + 1
    once, given_up = (
        fold(RUN, RunOptions(), happened([*VERIFIED[:6], *told * times])) for times in (1, often)
    )
    assert next_move(once, NOW) == moves.Wait(
        WaitReason.TRANSIENT_ERROR, "trouble: No space left on device", LATER
    )
    over = End("failed", f"stopped by transient errors {often} times; last: No space left on device")
    assert next_move(given_up, LATER) == over


def test_an_attempt_whose_files_are_lost_with_their_worker_is_begun_again_in_another_workspace() -> None:
    begun = ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"})
    ended = ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "done", "starts": 1})
    moved = ("run.taken_over", {"run": RUN, "lost": "a", "by": "b"})
    lost = ("attempt.lost", {"run": RUN, "phase": "1", "number": 1, "reason": "not here"})
    trouble = ("trouble.met", {"run": RUN, "what": "no disk", "retry_at": LATER})
    before = [*VERIFIED[:6], begun, ended]

    def after(*events: tuple[str, dict[str, Any]], stop: str | None = None) -> tuple[str, Move]:
        facts = fold(RUN, RunOptions(), happened([*before, *events]))
        facts.stop = stop
        return facts.lane, next_move(facts, NOW)

    assert [after(), after(moved), after(moved, lost), after(moved, lost, moved, stop="enough")] == [
        ("main", moves.Keep("1", 1)),
        ("main-1", moves.Keep("1", 1)),
        ("main-1", moves.Attempt("1", 1, "implement")),
        ("main-2", End("stopped", "enough")),
    ]
    # To be taken over is neither trouble nor progress.
    assert (
        after(trouble, moved)[1]
        == after(trouble)[1]
        == moves.Wait(WaitReason.TRANSIENT_ERROR, "trouble: no disk", LATER)
    )
