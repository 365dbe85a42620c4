"""Phases side by side: each in a lane of its own, merged one after the other onto the plan's branch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun, TreeKept
from asbuilt.events.phases import PhaseForked, PhaseJoined, PhaseMerged, PhaseProven
from asbuilt.events.runs import RunParked, WaitReason
from asbuilt.flows import requests
from asbuilt.flows.requests import Asker
from tests.journeys.shop import LANDED, PLAN, STARTS_ALL, killed_at
from tests.journeys.test_binding import asked

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash
PAIR = "# Greetings\n\n" + PLAN[PLAN.index("## Phase 2a") : PLAN.index("## Phase 3")].replace(
    "Phase 1.", "None."
)
"""Two phases that do not need each other."""
GATE = '{ run = "while [ ! -e go ]; do sleep 0.1; done; rm go" }'
"""Waits until the test releases the phase."""
PART = '{ write = "part.py", text = "goodbye\\n" }'
SHOUT = '{ write = "shout.py", text = "HELLO\\n" }'
DONE = '{ say = "done" }'
YOU = Asker("you", "here", {})


def pair(
    shop: Shop, *, part: tuple[str, ...], shout: tuple[str, ...], plan: str = PAIR, **options: str
) -> str:
    """Ask for a run of two phases side by side, and say what their agents do."""
    shop.commit("plan.md", plan, "pair")
    shop.turn('phase = "2a"\nrole = "implement"', *part)
    shop.turn('phase = "2b"\nrole = "implement"', *shout)
    shop.lands("part.py", "shout.py", "shared.py", "plan.md")
    return shop.request(mode="finish", hold=False, lanes=2, **options)


def release(shop: Shop, phase: str) -> None:
    """Let the agent of a phase go on."""
    shop.until(lambda: [*shop.home.glob(f"workspaces/*/*/*phase-{phase}/.git")])
    for link in shop.home.glob(f"workspaces/*/*/*phase-{phase}/.git"):
        (link.parent / "go").touch()


def proven(shop: Shop) -> list[str]:
    return [one.phase for one in shop.events(PhaseProven)]


@killed_at("phase.forked", "phase.joined", "phase.merged", "phase.proven")
def test_two_phases_are_worked_on_at_once_and_land_once(shop: Shop, point: str) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish", hold=False, lanes=2)
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    assert [one.phase for one in shop.events(PhaseForked)] == ["2a", "2b"]
    assert sorted((one.phase, one.state) for one in shop.events(PhaseJoined)) == [
        ("2a", "ready"), ("2b", "ready"),
    ]  # fmt: skip
    # 2a needs a fix, so that 2b is ready first and 2a is merged with it.
    assert proven(shop) == ["1", "2b", "2a", "3"]
    assert shop.log() == ["Mark plan.md", "Both", "Part", "Shout", "Greet", "start"]
    (merged,) = shop.events(PhaseMerged)
    assert (merged.phase, merged.of, merged.number, merged.conflicts) == ("2a", 2, 3, ())
    begun = [(one.phase, one.number) for one in shop.events(AttemptBegun)]
    assert sorted(begun[1:3]) == [("2a", 1), ("2b", 1)]


def conflicting(shop: Shop) -> str:
    """Start a run whose two phases write the same file; the first is released once the second is proven."""
    run = pair(
        shop,
        part=(GATE, PART, '{ write = "shared.py", text = "part\\n" }', DONE),
        shout=(SHOUT, '{ write = "shared.py", text = "shout\\n" }', DONE),
    )
    shop.start()
    shop.until(lambda: proven(shop) == ["2b"])
    release(shop, "2a")
    return run


@killed_at("phase.merged", "phase.forked", "phase.joined")
def test_a_conflict_goes_back_to_the_agent_with_both_sides(shop: Shop, point: str) -> None:
    both = '{ write = "shared.py", text = "both\\n" }'
    shop.turn('phase = "2a"\nrole = "fix"', both, DONE)
    run = conflicting(shop)
    if point:
        shop.until(lambda: point in shop.kinds() and shop.events(PhaseMerged))
        shop.kill()
        shop.start()
    assert shop.over(run) == ("landed", "")
    (merged,) = shop.events(PhaseMerged)
    assert (merged.phase, merged.number, merged.conflicts) == ("2a", 2, ("shared.py",))
    (told,) = merged.failures
    assert told.startswith("shared.py: conflicts with phase 2b (Shout), which is proven. The file has both")
    assert [one.phase for one in shop.events(PhaseForked)] == ["2a", "2b", "2a"]
    assert [(one.phase, one.number, one.role) for one in shop.events(AttemptBegun)][-1] == ("2a", 3, "fix")
    assert (shop.checkout / "shared.py").read_text(encoding="utf-8") == "both\n"
    assert shop.log() == ["Mark plan.md", "Part", "Shout", "pair", "start"]


def test_what_has_to_be_signed_off_in_a_lane_is_asked_about_after_its_merge(shop: Shop) -> None:
    (shop.checkout / "tests").mkdir()
    test = (
        "import unittest, sums\n\n\nclass T(unittest.TestCase):\n    def test_two(self):\n"
        "        self.assertEqual(sums.TWO, {})\n"
    )
    shop.commit("sums.py", "TWO = 2\n", "sums")
    shop.commit("tests/test_sums.py", test.format(2), "tests")
    three = '{{ write = "{}", text = {} }}'.format
    part = (
        "{ sleep = 20 }", PART, three("sums.py", json.dumps("TWO = 3\n")),
        three("tests/test_sums.py", json.dumps(test.format(3))), DONE,
    )  # fmt: skip
    run = pair(shop, part=part, shout=(SHOUT, DONE), tests="python3 -m unittest discover tests")
    shop.start()
    shop.until(lambda: shop.run(run).is_over or asked(shop))
    assert [one.phase for one in shop.events(PhaseMerged)] == ["2a"]
    (question,) = asked(shop)
    assert "test_two: old test fails" in question.question


def test_a_test_that_a_phase_removes_by_order_is_not_missed_after_its_merge(shop: Shop) -> None:
    (shop.checkout / "tests").mkdir()
    case = "    def test_{}(self):\n        self.assertEqual({}, {})\n".format
    started = f"__import__('os').system({STARTS_ALL!r})"
    kept = f"import unittest\n\n\nclass T(unittest.TestCase):\n{case('one', started, 0)}"
    test = f"{kept}\n{case('two', '2 + 2', 4)}"
    shop.commit("tests/test_sums.py", test, "tests")
    item = "- [ ] `part.py` says goodbye"
    plan = PAIR.replace(item, f"{item}\n- [ ] Delete `test_two` of `tests/test_sums.py`")
    says, shouts = (PART.replace("goodbye", "print('goodbye')"), SHOUT.replace("HELLO", "print('HELLO')"))
    part = ("{ sleep = 20 }", says, f'{{ write = "tests/test_sums.py", text = {json.dumps(kept)} }}', DONE)
    run = pair(shop, part=part, shout=(shouts, DONE), plan=plan, tests="python3 -m unittest discover tests")
    shop.lands("tests/test_sums.py")
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert [one.phase for one in shop.events(PhaseMerged)] == ["2a"]
    assert [one.role for one in shop.events(AttemptBegun)] == ["implement", "implement"]


def test_a_conflict_marker_that_is_left_is_not_proven(shop: Shop) -> None:
    shop.turn('phase = "2a"\nrole = "fix"', DONE)
    run = conflicting(shop)
    state, reason = shop.over(run)
    # One fix for the conflict, and two of the agent's own.
    assert (state, "shared.py still has conflict markers" in reason) == ("failed", True)
    assert [one.number for one in shop.events(AttemptBegun) if one.role == "fix"] == [3, 4, 5]
    assert shop.log("asbuilt/plan") == ["Shout", "pair", "start"]


def test_a_merge_that_fails_its_checks_goes_back_to_the_agent(shop: Shop) -> None:
    check = "- `grep -q goodbye part.py`"
    plan = PAIR.replace(check, f"{check}\n- `sh -c 'test ! -e shout.py || grep -q quiet part.py'`")
    shop.turn('phase = "2a"\nrole = "fix"', '{ write = "part.py", text = "goodbye, quiet\\n" }', DONE)
    run = pair(shop, part=(GATE, PART, DONE), shout=(SHOUT, DONE), plan=plan)
    shop.start()
    shop.until(lambda: proven(shop) == ["2b"])
    release(shop, "2a")
    assert shop.over(run) == ("landed", "")
    (merged,) = shop.events(PhaseMerged)
    assert merged.conflicts == ()
    assert [(one.phase, one.role) for one in shop.events(AttemptBegun)][-1] == ("2a", "fix")
    assert proven(shop) == ["2b", "2a"]


def test_a_phase_that_is_given_up_leaves_the_other_one_proven(shop: Shop) -> None:
    shop.turn('phase = "2a"\nrole = "fix"', '{ write = "part.py", text = "wrong\\n" }', DONE)
    run = pair(shop, part=('{ write = "part.py", text = "wrong\\n" }', DONE), shout=(GATE, SHOUT, DONE))
    shop.start()
    shop.until(lambda: [one.phase for one in shop.events(PhaseJoined)] == ["2a"])
    assert shop.run(run).state == "running"
    release(shop, "2b")
    state, reason = shop.over(run)
    assert (state, reason.startswith("phase 2a is not proven after 2 fixes")) == ("failed", True)
    assert proven(shop) == ["2b"]
    assert shop.log("asbuilt/plan") == ["Shout", "pair", "start"]


def test_a_question_of_one_phase_leaves_the_other_one_at_work(shop: Shop) -> None:
    run = pair(shop, part=(PART, DONE), shout=(GATE, SHOUT, DONE))
    head = 'phase = "2a"\nrole = "implement"\nattempt = 1'
    # A login that has expired would park phase 2b too: it has the same account.
    shop.turn(head, '{ fail = "I will not do this", cause = "refusal" }')
    shop.start()
    shop.until(lambda: any(one.reason is WaitReason.ANSWER for one in shop.events(RunParked)))
    assert shop.run(run).state == "running"
    release(shop, "2b")
    shop.until(lambda: shop.run(run).state == "waiting")
    assert proven(shop) == ["2b"]
    shop.answer(run, "yes")
    assert shop.over(run) == ("landed", "")
    assert proven(shop) == ["2b", "2a"]


def test_a_stop_keeps_the_files_of_every_lane(shop: Shop) -> None:
    run = pair(shop, part=(PART, GATE, DONE), shout=(SHOUT, GATE, DONE))
    shop.start()
    shop.until(lambda: len(shop.events(AttemptBegun)) == 2)
    shop.until(lambda: [*shop.home.glob("workspaces/*/*/*phase-2?/*.py")][1:])
    assert requests.stop(shop.store, shop.run(run), reason="enough", asker=YOU)
    assert shop.over(run) == ("stopped", "enough")
    assert sorted(one.phase for one in shop.events(TreeKept)) == ["2a", "2b"]
    assert [one.state for one in shop.events(PhaseJoined)] == ["stopped", "stopped"]


def test_a_pause_parks_every_lane_and_the_run_is_paused(shop: Shop) -> None:
    run = pair(shop, part=(PART, GATE, DONE), shout=(SHOUT, GATE, DONE))
    shop.start()
    shop.until(lambda: len(shop.events(AttemptBegun)) == 2)
    assert requests.pause(shop.store, shop.run(run), reason="lunch", asker=YOU)
    release(shop, "2a")
    shop.until(lambda: any(one.reason is WaitReason.PAUSE for one in shop.events(RunParked)))
    assert shop.run(run).state == "running"
    release(shop, "2b")
    shop.until(lambda: shop.run(run).state == "paused")
    assert proven(shop) == []
    assert requests.resume(shop.store, shop.run(run), asker=YOU)
    assert shop.over(run) == ("landed", "")
    assert sorted(proven(shop)) == ["2a", "2b"]


def test_one_lane_works_on_one_phase_at_a_time_as_before(shop: Shop) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish", hold=False, lanes=1)
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.events(PhaseForked) == []
    assert proven(shop) == ["1", "2a", "2b", "3"]
