from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.simulator.planted import FOUND, planted
from tests.simulator.seeds import main
from tests.simulator.simulation import simulator
from tests.simulator.story import story

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulator.simulation import Course, Simulator

pytestmark = pytest.mark.crash
WITHIN = 1_000


@pytest.fixture(scope="module")
def play() -> Iterator[Simulator]:
    with simulator() as made:
        yield made


def _first_found(play: Simulator) -> Course | None:
    return next((course for seed in range(WITHIN) if (course := play.play(seed)).broken is not None), None)


@pytest.mark.parametrize("name", FOUND)
def test_a_bug_that_takes_a_guard_away_is_found_within_a_thousand_seeds(play: Simulator, name: str) -> None:
    with planted(name):
        found = _first_found(play)
    assert found is not None
    assert play.play(found.seed).broken is None


@pytest.mark.parametrize("seed", range(8))
def test_the_same_seed_takes_the_same_course(play: Simulator, seed: int) -> None:
    first, second = play.play(seed), play.play(seed)
    assert (first.trace, first.broken) == (second.trace, None)


def test_a_failure_shrinks_to_the_faults_without_which_it_would_not_be_one(play: Simulator) -> None:
    with planted("perform what is done"):
        found = _first_found(play)
        assert found is not None
        least = play.shrink(story(found.seed))
        assert play.course(least).broken is not None
    assert 0 < len(least.faults) <= len(story(found.seed).faults)


def test_a_failure_says_what_replays_it(capsys: pytest.CaptureFixture[str]) -> None:
    with planted("forget the claim"):
        assert main(["4"]) == 1
    said = capsys.readouterr().out
    assert "replay: just simulate 1 0" in said
    assert "over and still owns" in said
