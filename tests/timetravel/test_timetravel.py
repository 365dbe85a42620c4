"""A store put back to an earlier moment finds all that was done since; nothing outside happens twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from asbuilt.events.landings import LandingUndone
from asbuilt.journal import claims
from tests.crash.invariants import broken
from tests.journeys.shop import ALL, LANDED, LONG
from tests.journeys.test_landings import ends
from tests.timetravel.past import Past

if TYPE_CHECKING:
    from tests.journeys.shop import Shop
    from tests.timetravel.past import Engine

pytestmark = pytest.mark.crash

MOMENTS: Final = (
    "run.requested", "run.started", "attempt.begun", "tree.kept", "phase.proven", "attempt.begun/3",
    "phase.proven/3", "landing.intended", "landing.done", "plan.marked", "landing.tidied", "run.ended",
)  # fmt: skip
"""Kinds of events, the third of a kind as `kind/3`: when the copy was taken, and when it was put back."""
LATER: Final = ("attempt.begun/3", "landing.intended", "landing.done", "run.ended")
SLICE: Final = (
    ("sqlite", "run.requested", "run.ended", "old"),
    ("sqlite", "attempt.begun", "attempt.begun/3", "old"),
    ("postgres", "phase.proven", "run.ended", "old"),
    ("postgres", "landing.intended", "landing.done", "gone"),
)
on_sqlite = pytest.mark.parametrize("where", ["sqlite"], indirect=True)


def _journeys() -> list[tuple[str, str, str, str]]:
    """Give every moment with every later one; in the slice a few of them."""
    if not LONG:
        return list(SLICE)
    pairs = [(at, later) for later in LATER for at in MOMENTS[: MOMENTS.index(later)]]
    stores = (
        ("sqlite", "old"),
        ("postgres", "old"),
        ("postgres", "new"),
        ("postgres", "gone"),
    )
    return [(store, *pair, engine) for store, engine in stores for pair in pairs]


def _until(shop: Shop, moment: str) -> None:
    kind, _, times = moment.partition("/")
    shop.until(lambda: shop.kinds().count(kind) >= int(times or 1))


def _starts(shop: Shop, run: str) -> dict[str, int]:
    """Count how often each agent of a run was started."""
    folder = shop.home / "runs" / run / "attempts"
    starts = {one.name: (one / "starts").read_text(encoding="ascii") for one in folder.iterdir()}
    return {name.removeprefix(f"{run}."): len(lines.splitlines()) for name, lines in starts.items()}


def _back_from(shop: Shop, later: str, past: Past, engine: Engine) -> None:
    """Let time pass, and put the store back."""
    _until(shop, later)
    shop.kill()
    past.restore(engine)
    shop.start()


@pytest.mark.parametrize(("where", "at", "later", "engine"), _journeys(), indirect=["where"])
def test_a_run_whose_store_was_put_back_ends_landed_once(
    shop: Shop, at: str, later: str, engine: Engine
) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish")
    shop.start()
    _until(shop, at)
    _back_from(shop, later, Past(shop), engine)
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ALL
    assert _starts(shop, run) == dict.fromkeys(
        ("1.1", "1.1v", "2a.1", "2a.2", "2a.2v", "2b.1", "2b.1v", "3.1", "3.1v", "all_phases.1v"), 1
    )
    assert broken(shop) == []


@pytest.mark.parametrize(
    "at", ["run.requested", "phase.proven", "landing.intended"] if LONG else ["run.requested"]
)
@pytest.mark.parametrize(
    "later", ["attempt.begun/3", "landing.done/2", "run.ended"] if LONG else ["run.ended"]
)
@on_sqlite
def test_a_run_that_lands_each_phase_at_once_finds_each_again(shop: Shop, at: str, later: str) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish", landing="direct")
    shop.start()
    _until(shop, at)
    _back_from(shop, later, Past(shop), "old")
    assert shop.over(run) == ("landed", "")
    marks = ["Mark plan.md"]
    assert shop.log() == [*marks, "Both", *marks, "Shout", *marks, "Part", *marks, "Greet", "start"]
    assert set(_starts(shop, run).values()) == {1}
    assert broken(shop) == []


@on_sqlite
def test_what_was_taken_back_since_is_not_landed_again(shop: Shop) -> None:
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start()
    _until(shop, "phase.proven")
    past = Past(shop)
    assert shop.over(run) == ("landed", "")
    assert ends(shop, kind="undo") == ("undone", "")
    undone = shop.log()
    shop.kill()
    past.restore("old")
    shop.start()
    at = shop.git("rev-parse", "--short=10", "main~3")
    said = (
        f"Not landed: main had phase 1 at {at}, which was reverted. The journal has no record of the revert;"
        " another user may have made it. Nothing moved. An undo drops it here, too."
    )
    assert shop.over(run) == ("failed", f"{said} Next: asbuilt land plan --undo")
    assert shop.log() == undone
    assert ends(shop, kind="undo") == ("undone", "nothing had landed")
    assert shop.log() == undone
    assert ends(shop, mode="phase") == ("landed", "")
    assert shop.log() == ["Mark plan.md", "Greet", *undone]


@on_sqlite
def test_a_run_that_the_store_does_not_know_any_more_is_not_repeated(shop: Shop) -> None:
    shop.lands("greet.py", "plan.md")
    assert ends(shop, mode="phase", phase="1", hold=True)[0] == "held"
    past = Past(shop)
    assert ends(shop, kind="land") == ("landed", "")
    landed = shop.log()
    shop.kill()
    past.restore("old")
    shop.start()
    # The target has the commits, so they are recorded as landed by hand.
    assert ends(shop, kind="land") == ("landed", "")
    assert shop.log() == landed
    assert ends(shop, kind="undo") == ("undone", "")
    assert shop.log() == ["Reopen plan.md", 'Revert "Greet"', *landed]
    assert len(shop.events(LandingUndone)) == 1


@on_sqlite
def test_the_epoch_of_a_claim_does_not_come_back_with_the_store(shop: Shop) -> None:
    def taken(run: str) -> int:
        with shop.store.write() as session:
            claim = claims.acquire(session, shop.address, run=run, mode="phase", host="h", actor="you").claim
            claims.release(session, shop.address, run=run, actor="you")
        return claim.epoch

    shop.request()
    shop.home.mkdir()
    past, before = Past(shop), taken("r1")
    _second_passes(shop)
    past.restore("old")
    assert taken("r2") > before


def _second_passes(shop: Shop) -> None:
    def second() -> str:
        with shop.store.read() as session:
            return session.now[:19]

    now = second()
    shop.until(lambda: second() > now)
