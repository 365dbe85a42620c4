from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from asbuilt.lifecycle import phases
from asbuilt.lifecycle.facts import RunFacts, fold
from asbuilt.lifecycle.phases import FIX_LIMIT, End, Move, next_move

RUN = "r1"
NOW = "2026-11-15T02:00:00.000Z"
LATER = "2026-11-15T05:00:00.000Z"
DIAMOND = {"1": [], "2a": ["1"], "2b": ["1"], "3": ["2a", "2b"]}


@dataclass
class World:
    """Performs moves as a run would, answering by chance; everything it knows is its list of events."""

    options: dict[str, Any]
    answers: st.DataObject
    plan: dict[str, list[str]] = field(default_factory=lambda: DIAMOND)
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    now: str = NOW

    def facts(self) -> RunFacts:
        return fold(RUN, self.options, self.events)

    def live(self) -> End:
        for _ in range(500):
            move = next_move(self.facts(), self.now)
            self.moves.append(move)
            if isinstance(move, End):
                return move
            self._perform(move)
        raise AssertionError(self.moves)

    def _say(self, kind: str, **data: object) -> None:
        self.events.append((kind, {"run": RUN, **data}))

    def _draw(self, *choices: str) -> str:
        return self.answers.draw(st.sampled_from(choices))

    def _compare(self, point: str) -> None:
        for phase in self.facts().phases.values():
            if phase.proven and self._draw("same", "same", "same", "same", "changed") == "changed":
                self._say("plan.differs", phase=phase.id, point=point, intent="sha256:2")
        self._say("plan.compared", point=point)

    def _perform(self, move: Move) -> None:
        outcome = ("PASS", "PASS", "PASS", "FAIL", "NOT_RUN", "INDETERMINATE")
        match move:
            case phases.Start():
                self._say("run.started", base="b0", phases=self.plan, done=[])
            case phases.MakeWorkspace():
                self._say("workspace.made")
            case phases.SetUp():
                self._say("setup.done", outcome=self._draw("PASS", "PASS", "PASS", "FAIL"))
            case phases.Baseline():
                self._say("baseline.done", outcome=self._draw("PASS", "PASS", "NOT_RUN", "INDETERMINATE"))
            case phases.Begin(phase=phase):
                self._say("phase.begun", phase=phase, intent="sha256:1")
            case phases.Attempt(phase=phase, number=number, role=role):
                self._say("attempt.begun", phase=phase, number=number, role=role)
                ending = self._draw("done", "done", "done", "stalled", "crashed", "limited", "abandoned")
                self._say("attempt.ended", phase=phase, number=number, ending=ending, resets_at=LATER)
            case phases.Keep(phase=phase, number=number):
                changed = self._draw("yes", "yes", "yes", "no") == "yes"
                self._say("tree.kept", phase=phase, number=number, commit="c", tree="t", changed=changed)
            case phases.Check(phase=phase, number=number):
                self._say(
                    "checks.done", phase=phase, number=number, outcome=self._draw(*outcome), failures=["x"]
                )
            case phases.Verify(phase=phase, number=number):
                ending = self._draw("done", "done", "done", "crashed", "limited", "abandoned")
                if ending != "done":
                    self._say("verifier.ended", phase=phase, number=number, ending=ending, resets_at=LATER)
                    return
                self._say(
                    "verdict.given", phase=phase, number=number, outcome=self._draw(*outcome), failures=["y"]
                )
            case phases.Commit(phase=phase):
                self._say("phase.proven", phase=phase, commit=f"c-{phase}")
            case phases.Compare(point=point):
                self._compare(point)
            case phases.Ask(key=key):
                self._say("approval.asked", key=key)
            case phases.Wait(until=until):
                if until is None:
                    asked = next(key for key, answer in self.facts().approvals.items() if answer is None)
                    self._say("approval.answered", key=asked, answer=self._draw("yes", "yes", "no"))
                else:
                    self.now = until
            case phases.ProveTogether():
                self._say("together.done", outcome=self._draw("PASS", "PASS", "FAIL"))
            case phases.Report():
                self._say("report.written")
            case phases.Land():
                self._say(self._draw("landing.done", "landing.done", "landing.refused"), reason="conflict")
            case phases.Mark():
                self._say("plan.marked")
            case End():
                raise AssertionError(move)


# An example is a whole run of up to a hundred moves.
whole_runs = settings(max_examples=500)

options = st.fixed_dictionaries(
    {"mode": st.sampled_from(["phase", "finish"]), "auto": st.booleans()},
    optional={"hold": st.booleans(), "phase": st.sampled_from(["1"])},
)


@whole_runs
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
            assert (last.ending, last.checks, last.verdict, last.changed) == ("done", "PASS", "PASS", True)
    landed = any(isinstance(move, phases.Land) for move in world.moves)
    if landed:
        accepted = {key.split("/")[2] for key, answer in facts.approvals.items() if answer == "yes"}
        assert set(facts.differs) <= accepted
        assert facts.compared == "landing"
        assert facts.together == "PASS"
        assert not facts.hold
    if end.state == "landed":
        assert facts.marked
        assert facts.landing == "landed"
    if end.state == "failed":
        assert end.reason


@whole_runs
@given(options, st.data())
def test_a_phase_begins_only_when_what_it_needs_is_proven(
    options: dict[str, Any], answers: st.DataObject
) -> None:
    world = World(options, answers)
    world.live()
    proven: set[str] = set()
    for kind, data in world.events:
        if kind == "phase.begun":
            assert set(DIAMOND[data["phase"]]) <= proven
        elif kind == "phase.proven":
            proven.add(data["phase"])


@whole_runs
@given(options, st.data())
def test_a_run_for_one_phase_proves_at_most_one(options: dict[str, Any], answers: st.DataObject) -> None:
    world = World({**options, "mode": "phase"}, answers)
    world.live()
    assert sum(phase.proven is not None for phase in world.facts().phases.values()) <= 1


@whole_runs
@given(st.data())
def test_without_auto_somebody_is_asked_between_phases_and_nothing_lands(answers: st.DataObject) -> None:
    world = World({"mode": "finish"}, answers)
    world.live()
    begun = [data["phase"] for kind, data in world.events if kind == "phase.begun"]
    asked = [move.phase for move in world.moves if isinstance(move, phases.Ask) and "/between/" in move.key]
    assert asked[: len(begun) - 1] == begun[1:]
    assert not any(isinstance(move, phases.Land) for move in world.moves)


def test_the_happy_way_of_one_phase_is_short() -> None:
    events: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
        ("workspace.made", {"run": RUN}),
        ("setup.done", {"run": RUN, "outcome": "PASS"}),
        ("baseline.done", {"run": RUN, "outcome": "PASS"}),
        ("phase.begun", {"run": RUN, "phase": "1"}),
        ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"}),
        ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "done"}),
        ("tree.kept", {"run": RUN, "phase": "1", "number": 1, "commit": "c", "tree": "t", "changed": True}),
        ("checks.done", {"run": RUN, "phase": "1", "number": 1, "outcome": "PASS"}),
        ("verdict.given", {"run": RUN, "phase": "1", "number": 1, "outcome": "PASS"}),
        ("phase.proven", {"run": RUN, "phase": "1", "commit": "c1"}),
        ("plan.compared", {"run": RUN, "point": "1"}),
        ("together.done", {"run": RUN, "outcome": "PASS"}),
        ("report.written", {"run": RUN}),
        ("plan.compared", {"run": RUN, "point": "landing"}),
        ("landing.done", {"run": RUN}),
        ("plan.marked", {"run": RUN}),
    ]
    options = {"mode": "phase", "auto": True}
    told = [next_move(fold(RUN, options, events[:n]), NOW) for n in range(len(events) + 1)]
    assert told == [
        phases.Start(),
        phases.MakeWorkspace(),
        phases.SetUp(),
        phases.Baseline(),
        phases.Begin("1"),
        phases.Attempt("1", 1, "implement"),
        phases.Attempt("1", 1, "implement"),
        phases.Keep("1", 1),
        phases.Check("1", 1),
        phases.Verify("1", 1),
        phases.Commit("1", 1),
        phases.Compare("1"),
        phases.ProveTogether(),
        phases.Report(),
        phases.Compare("landing"),
        phases.Land(),
        phases.Mark(),
        End("landed", ""),
    ]


def test_a_usage_limit_parks_until_it_opens_and_goes_on_with_the_same_attempt() -> None:
    events: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
        ("workspace.made", {"run": RUN}),
        ("setup.done", {"run": RUN, "outcome": "PASS"}),
        ("baseline.done", {"run": RUN, "outcome": "PASS"}),
        ("phase.begun", {"run": RUN, "phase": "1"}),
        ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"}),
        ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "limited", "resets_at": LATER}),
    ]
    facts = fold(RUN, {"auto": True}, events)
    assert next_move(facts, NOW) == phases.Wait("usage limit of the agent in phase 1", LATER)
    assert next_move(facts, LATER) == phases.Attempt("1", 1, "implement")


def test_events_of_another_run_change_nothing() -> None:
    assert fold(RUN, {}, [("run.started", {"run": "r2", "base": "b", "phases": {"1": []}})]) == fold(
        RUN, {}, []
    )


VERIFIED: list[tuple[str, dict[str, Any]]] = [
    ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
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
    told = [next_move(fold(RUN, {}, [*VERIFIED, *[lost] * times]), NOW) for times in range(4)]
    verify = phases.Verify("1", 1)
    assert told == [
        verify, verify, verify, End("failed", "phase 1: the verifier crashed 3 times; last: boom"),
    ]  # fmt: skip


def test_an_attempt_that_nobody_waited_for_goes_on_however_often_that_happens() -> None:
    once = [
        ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"}),
        ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "abandoned"}),
    ]
    assert next_move(fold(RUN, {}, [*VERIFIED[:5], *once * 9]), NOW) == phases.Attempt("1", 1, "implement")


PROVEN = [
    *VERIFIED,
    ("verdict.given", {"run": RUN, "phase": "1", "number": 1, "outcome": "PASS"}),
    ("phase.proven", {"run": RUN, "phase": "1", "commit": "c1"}),
]


def _compared(point: str, *changed: str) -> list[tuple[str, dict[str, Any]]]:
    differs = [("plan.differs", {"run": RUN, "phase": "1", "point": point, "intent": to}) for to in changed]
    return [*differs, ("plan.compared", {"run": RUN, "point": point})]


def test_with_auto_a_promise_that_changed_ends_the_run_before_it_lands() -> None:
    told = next_move(fold(RUN, {"auto": True}, [*PROVEN, *_compared("1", "sha256:2")]), NOW)
    assert told == End(
        "failed",
        "the text of phase 1 was changed in the plan after it was frozen:"
        " nothing was landed, the plan's branch keeps what is proven",
    )


def test_a_promise_that_changed_is_asked_about_once_and_again_when_it_changes_again() -> None:
    key = f"{RUN}/differs/1/sha256:2"
    what = "the text of phase 1 was changed in the plan after it was frozen; go on with what was built?"
    ask = phases.Ask(key, "continue", what, "1")
    events: list[tuple[str, dict[str, Any]]] = [*PROVEN, *_compared("1", "sha256:2")]
    assert next_move(fold(RUN, {}, events), NOW) == ask
    events += [
        ("approval.asked", {"run": RUN, "key": key}),
        ("approval.answered", {"run": RUN, "key": key, "answer": "yes"}),
    ]
    assert next_move(fold(RUN, {}, events), NOW) == phases.ProveTogether()
    events += [("together.done", {"run": RUN, "outcome": "PASS"}), ("report.written", {"run": RUN})]
    same, other = _compared("landing", "sha256:2"), _compared("landing", "sha256:3")
    assert next_move(fold(RUN, {}, [*events, *same]), NOW) == End(
        "held", "everything is proven; landing was not asked for"
    )
    assert next_move(fold(RUN, {}, [*events, *other]), NOW) == ask._replace(key=f"{RUN}/differs/1/sha256:3")
    assert next_move(fold(RUN, {}, [*events, *_compared("landing")]), NOW) == End(
        "held", "everything is proven; landing was not asked for"
    )


def test_a_tree_that_cannot_be_kept_is_asked_about_and_kept_after_a_yes() -> None:
    refused = ("tree.refused", {"run": RUN, "phase": "1", "number": 1, "reason": "big.bin is too large."})
    key = f"{RUN}/keep/1/1/1"
    events = [*VERIFIED[:7], refused]
    assert next_move(fold(RUN, {"auto": True}, events), NOW) == phases.Ask(
        key, "continue", "big.bin is too large. Try again?", "1"
    )
    for answer, move in (
        ("yes", phases.Keep("1", 1)),
        ("no", End("stopped", "phase 1: big.bin is too large.")),
    ):
        told = [*events, ("approval.answered", {"run": RUN, "key": key, "answer": answer})]
        assert next_move(fold(RUN, {"auto": True}, told), NOW) == move
