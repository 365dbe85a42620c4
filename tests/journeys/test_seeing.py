"""A phase that changes what people see lands when a person has looked, at pictures where they can be made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.phases import PicturesTaken
from asbuilt.journal.blobs import Blobs
from tests.journeys.shop import LANDED, killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
LOOK = "look at phase 1, Greet: it changes what people see"
PICTURED = f"{LOOK}; asbuilt report plan --open has pictures"
PNG = b"\x89PNG\r\n\x1a\n"
DRAW = (
    "printf '\\211PNG\\r\\n\\032\\n' > $ASBUILT_PICTURES/greeting.png; cat greet.py > $ASBUILT_PICTURES/notes"
)


def told(shop: Shop) -> list[tuple[str, str, list[tuple[str, bytes]]]]:
    """Give what came of each try at pictures, with what was kept."""
    blobs = Blobs(shop.home / "blobs")
    return [
        (
            one.outcome,
            one.why,
            [(name, blobs.get(digest)) for name, digest in json.loads(blobs.get(one.pictures))],
        )
        for one in shop.events(PicturesTaken)
    ]


@killed_at("pictures.taken", "signoff.wanted")
def test_unattended_what_people_see_waits_for_their_eyes_with_a_picture_of_the_end(
    shop: Shop, point: str
) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish", ui=["greet.py"], pictures=DRAW)
    shop.start_killed(point)
    shop.until(lambda: shop.run(run).state == "waiting")
    assert told(shop) == [("PASS", "not shown: notes", [("greeting.png", PNG)])]
    assert shop.log() == ["start"]
    assert shop.answer(run, "yes") == [PICTURED]
    assert shop.over(run)[0] == "landed"


def test_pictures_that_cannot_be_taken_are_told_and_the_question_stands(shop: Shop) -> None:
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase", ui=["greet.py"], pictures="exit 3")
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    assert told(shop) == [("FAIL", "exit 3; it wrote no picture", [])]
    assert shop.answer(run, "yes") == [PICTURED]
    assert shop.over(run) == ("landed", "")


def test_what_was_looked_at_is_asked_no_more_and_a_no_lands_nothing(shop: Shop) -> None:
    held = shop.request(mode="phase", hold=True, ui=["greet.py"])
    shop.start()
    state, reason = shop.over(held)
    assert (state, reason.rpartition("; ")[2]) == (
        "held",
        "before it lands you have to sign off 1 of its changes",
    )
    first = shop.request(kind="land", auto=False, hold=False, ui=["greet.py"])
    shop.until(lambda: shop.run(first).state == "waiting")
    assert shop.answer(first, "no") == [LOOK]
    assert (shop.over(first)[0], shop.log()) == ("stopped", ["start"])
