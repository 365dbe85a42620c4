"""A slice of the matrix: at least one point of every class, and every kind of journey."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crash.matrix import CLASSES
from tests.crash.points import Point
from tests.crash.world import Theatre
from tests.journal.conftest import postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["postgres"]
SLICE = (
    "step/one/postgres/start#1",
    "step/one/sqlite/1.Start:acted#1",
    "step/one/postgres/1.MakeWorkspace:acted#1",
    "step/one/sqlite/1.Attempt:before#1",
    "step/one/postgres/1.Attempt:acted#1",
    "step/one/sqlite/1.Keep:acted#1",
    "step/one/sqlite/1.Verify:acted#1",
    "step/one/postgres/1.Commit:acted#1",
    "step/one/sqlite/1.Land:before#1",
    "step/one/postgres/1.Land:acted#1",
    "step/one/sqlite/1.Land:recorded#1",
    "step/one/sqlite/1.End:acted#1",
    "step/direct/sqlite/1.Land:acted#2",
    "step/held/postgres/2.Land:acted#1",
    "step/undo/sqlite/2.Mark:acted#1",
    "step/question/sqlite/1.Ask:acted#1",
    "step/limit/sqlite/1.Attempt:acted#1",
    "step/limit/postgres/1.Wait:acted#1",
    "step/task/postgres/1.Start:acted#1",
    "step/task/sqlite/1.Judge:acted#1",
    "step/task/sqlite/1.Post:acted#1",
    "step/task/sqlite/1.Land:before#1",
    "step/task/sqlite/1.Land:acted#1",
    "step/task/sqlite/1.Tidy:acted#1",
    "pair/one/sqlite/1.Commit:acted#1+#2",
    "pair/one/sqlite/1.Land:acted#1+#1",
    "pair/held/sqlite/2.Land:acted#1+#3",
    "fsync/one/sqlite/2",
    "fsync/one/sqlite/61",
    "rename/one/sqlite/6",
    "rename/one/sqlite/36",
    "rename/one/sqlite/51",
    "unlink/one/sqlite/60",
    "unlink/one/sqlite/131",
    "host/one/sqlite/1.1",
    "working/one/sqlite/1.1v",
    "grace/one/sqlite/1.1",
)


@pytest.fixture(scope="session")
def theatre(postgres: str) -> Iterator[Theatre]:
    with closing(Theatre(postgres)) as opened:
        yield opened


@pytest.mark.crash
@pytest.mark.parametrize("text", SLICE)
def test_struck_anywhere_a_world_comes_to_its_end_whole(theatre: Theatre, text: str) -> None:
    outcome = theatre.play(Point.read(text))
    assert outcome.struck, str(outcome)
    assert outcome.is_whole, str(outcome)


def test_the_slice_has_a_point_of_every_class() -> None:
    assert {Point.read(text).kind for text in SLICE} == set(CLASSES)
