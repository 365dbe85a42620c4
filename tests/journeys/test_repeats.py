"""Every step of a run done twice: a worker that dies after it has acted leaves its step to be done again."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.agents.processes import RingProcesses
from asbuilt.flows.perform import Performer
from asbuilt.flows.run import Runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.home import open_home
from asbuilt.journal.ids import LOCAL
from tests.journeys.shop import ALL, LANDED, LONG, REPO, one_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash
Answer = TypeVar("Answer")


def twice(name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
    """Do a step, lose its answer, and do it again."""
    del name
    act(*arguments)
    return act(*arguments)


@one_store
@pytest.mark.parametrize("landing", ["cherry-pick", "direct"] if LONG else ["cherry-pick"])
def test_a_step_that_is_done_again_after_its_outcome_was_written_changes_nothing(
    shop: Shop, landing: str
) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish", landing=landing)
    home, blobs = open_home(shop.home), Blobs(shop.home / "blobs")
    attempts = FolderAttempts(home.path, home=home.path / "nobody", ring_required=False)
    processes = RingProcesses(scratch=home.scratch, hidden=(home.path,), homes=(home.path / "nobody",))
    flow = Runs(shop.store, blobs, Performer(home, shop.store, blobs, attempts, processes), step=twice)
    flow.segment(LOCAL, REPO, run, 1)
    assert (shop.run(run).state, shop.reason()) == ("landed", "")
    assert [subject for subject in shop.log() if not subject.startswith("Mark")] == ALL[1:]
    assert len(shop.events("attempt.begun")) == 5
    assert len(shop.events("phase.proven")) == 4
