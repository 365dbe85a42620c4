"""What a run may cost is told from what phases have cost in this repository, and from nothing else."""

from __future__ import annotations

from asbuilt.journal.ids import LOCAL
from asbuilt.journal.spending import proven_phases
from asbuilt.lifecycle.money import NO_PAST, Spent, forecast
from tests.cli.nights import REPO
from tests.cli.screens import a_night


def test_a_forecast_goes_by_the_phases_that_were_proven_here() -> None:
    with a_night() as night, night.store.read() as session:
        past = proven_phases(session, LOCAL, REPO)
        elsewhere = proven_phases(session, LOCAL, "another")
    assert sorted(one.usd for one in past) == [0.84, 0.9, 1.12, 2.77, 6.31]
    assert forecast(past, 3) == "about $3.36, at most $18.93, by 5 phases proven here"
    assert forecast(elsewhere, 3) == NO_PAST


def test_what_is_unknown_or_free_is_no_ground_for_a_forecast() -> None:
    assert forecast([Spent(), Spent(usd_untold=1), Spent(2.0, usd_untold=1)], 2) == NO_PAST
    assert forecast([Spent(2.0), Spent(usd_untold=1)], 2) == "about $4.00, by 1 phase proven here"
    assert forecast([Spent(2.0)], 0) == NO_PAST
