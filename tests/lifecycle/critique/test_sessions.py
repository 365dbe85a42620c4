from __future__ import annotations

from tests.lifecycle.critique.critics import CRITICS
from tests.lifecycle.critique.sessions import Session, told


def test_every_session_ends_in_time_loses_nothing_material_and_knows_what_recurs() -> None:
    """All thousand of them: `just critics`."""
    tallies = [Session(seed).play() for seed in range(200)]
    assert told(tallies) == []
    assert {one.critic for one in tallies if one.recurred} == set(CRITICS) - {"flattering"}
    # A critic that repeats itself whatever the author does never agrees: the last round ends it.
    assert {one.critic for one in tallies if one.is_agreed} == set(CRITICS) - {"flattering", "looping"}


def test_a_session_is_the_same_from_the_same_seed() -> None:
    assert Session(7).play() == Session(7).play()
