from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.flows.authoring import conversation
from asbuilt.journal.runs import ENDED
from asbuilt.lifecycle.pull_request.next_move import READY
from asbuilt.lifecycle.pull_request.repairs import CI_FAILING
from tests.simulator.authored import FIRST
from tests.simulator.planted import FOUND, planted
from tests.simulator.seeds import failures, main
from tests.simulator.simulation import simulator
from tests.simulator.story import Act, story

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulator.simulation import Course, Simulator

pytestmark = pytest.mark.crash
SEEDS = 1_000
SLICE = 100
"""Each in one process: whoever runs the tests decides on how many cores. `just simulate` plays more."""
WITHIN = 1_000
AUTHORED = 60
"""Authorings; `just simulate 1000 1000000` plays more of them."""


@pytest.fixture
def play() -> Iterator[Simulator]:
    with simulator() as made:
        yield made


def _simulate(*arguments: str, **environ: str) -> list[str]:
    """Play seeds as `just simulate` does, and return what it says."""
    said = subprocess.run(
        [sys.executable, "-m", "tests.simulator", *arguments],
        cwd=Path(__file__).parents[2],
        env=os.environ | environ,
        check=True,
        capture_output=True,
        text=True,
    )
    return said.stdout.splitlines()


def _first_found(play: Simulator) -> Course | None:
    return next((course for seed in range(WITHIN) if (course := play.play(seed)).broken is not None), None)


@pytest.mark.parametrize("first", range(0, SEEDS, SLICE))
def test_no_seed_breaks_a_law(first: int) -> None:
    assert failures(range(first, first + SLICE)) == []


@pytest.mark.parametrize("name", FOUND)
def test_a_planted_bug_is_found_by_the_law_that_it_breaks(play: Simulator, name: str) -> None:
    with planted(name) as law:
        found = _first_found(play)
    assert found is not None
    assert law in (found.broken or "")
    assert play.play(found.seed).broken is None


def test_no_seed_of_an_authoring_breaks_a_law() -> None:
    assert failures(range(FIRST, FIRST + AUTHORED)) == []


def test_an_authoring_that_forgets_what_was_answered_is_found(
    play: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "ANSWERS", ())
    found = (play.play(seed).broken for seed in range(FIRST, FIRST + AUTHORED))
    assert " asks what a" in (next(filter(None, found)) or "")


def test_runs_end_in_every_way_that_there_is_without_a_forge(play: Simulator) -> None:
    ends = [end for seed in range(100) for end in play.play(seed).end]
    assert {end.split()[1] for end in ends} == {*ENDED} - {READY, CI_FAILING}


@pytest.mark.parametrize("seed", [0, 1, 10, 11, FIRST + 5])
def test_a_seed_takes_the_same_course_in_whatever_process_it_is_played(play: Simulator, seed: int) -> None:
    play.play(seed + 1)
    course = play.play(seed)
    replayed = _simulate("1", str(seed), PYTHONHASHSEED=str(seed))
    assert replayed == [*course.trace, f"seed {seed}: lawful", *course.end]


def test_a_failure_shrinks_to_the_faults_without_which_it_would_not_be_one(play: Simulator) -> None:
    with planted("write without a fence") as law:
        found = _first_found(play)
        assert found is not None
        least = play.shrink(story(found.seed))
        assert law in (play.judged(least).broken or "")
        assert least.faults
        for fault in least.faults:
            less = replace(least, faults=tuple(one for one in least.faults if one != fault))
            assert play.judged(less).broken is None


def test_a_landing_leaves_the_workspace_of_a_run_whose_claim_was_broken_and_that_works_on(
    play: Simulator,
) -> None:
    script = replace(
        story(0).scripts[0],
        text=b"# Red\n"
        + b"".join(
            b"\n## Phase %d\n### Work Items\n- [ ] make `red-%d`\n### Verification\n- `check red-%d`\n"
            % (n, n, n)
            for n in (1, 2)
        ),
        options={**story(0).scripts[0].options, "mode": "finish", "landing": "cherry-pick", "hold": False},
    )

    def broken_at(point: int) -> str | None:
        acts = (Act(5.0, "run", 0), Act(0.0, "break_as_before", 0, point), Act(0.0, "land", 0, point + 1))
        told = replace(story(0), scripts=(script,), acts=acts, faults=(), is_fleet=False)
        return play.course(told).broken

    # After the first phase is proven, while the agent of the second one is at work.
    points = range(200, 320, 3)
    with planted("tidy up around the living") as law:
        assert any(law in (broken_at(point) or "") for point in points)
    assert [point for point in points if broken_at(point) is not None] == []


def test_what_fails_is_told_with_the_command_that_replays_it(capsys: pytest.CaptureFixture[str]) -> None:
    with planted("forget the claim"):
        assert main(["4", "8"], cores=1) == 1
        told = capsys.readouterr().out.splitlines()
        assert main(["1", "8"]) == 1
        replayed = capsys.readouterr().out.splitlines()
    assert told[:2] == ["seed 8: red1 is over and still owns red.md", "  replay: just simulate 1 8"]
    assert told[-1].startswith("4 seeds, 4 violations, ")
    asked = Act(5.0, "run", 0)
    assert replayed[-2:] == [told[0], f"enough to break it: [] [{asked}]"]


@pytest.mark.parametrize("seed", [106, 3232, 4881, 6857, 8017, 9155])
def test_seeds_that_once_broke_a_law_are_lawful(seed: int) -> None:
    assert failures(range(seed, seed + 1)) == []


def test_seeds_that_are_lawful_are_only_counted() -> None:
    (told,) = _simulate("4", "8")
    assert told.startswith("4 seeds, 0 violations, ")
    assert told.endswith(" seeds/s")
