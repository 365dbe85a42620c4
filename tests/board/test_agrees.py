"""The board and `asbuilt status --json` show the same, after every transaction of the simulator's stories."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from asbuilt.board.now_page import now_page
from asbuilt.board.plan_page import plan_page
from asbuilt.board.question_page import inbox_page
from asbuilt.board.reading import Reading
from asbuilt.cli.commands.status import plan_json
from asbuilt.cli.shell.read_context import Moment
from asbuilt.journal import repositories
from asbuilt.journal.home import Home
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.facts_cache import Folds
from asbuilt.journal.queries.overview import plan_views
from asbuilt.journal.repositories import Known
from asbuilt.pages.document import Beside, Link, Mark, Points, Section, Table
from tests.simulator.authored import FIRST
from tests.simulator.simulation import simulator
from tests.simulator.story import REPO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session
    from asbuilt.pages.document import Block, Document, Words

pytestmark = pytest.mark.crash
SLICE = 15


class Looking:
    """A store at one moment, seen from outside of its world."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @contextmanager
    def read(self) -> Iterator[Session]:
        yield self._session

    def write(self) -> NoReturn:
        raise AssertionError("a page writes")


class Both:
    """Compares the two after every transaction, with what the board has kept from the one before."""

    def __init__(self) -> None:
        self.compared = 0
        self._folds: Folds | None = None
        self._blobs: Blobs | None = None

    def look(self, session: Session, blobs: Blobs) -> None:
        if repositories.find(session, LOCAL, REPO) is None:
            repositories.remember(session, LOCAL, Known(REPO, "/shop/.git", "1:1", None))
        if self._folds is None or blobs is not self._blobs:
            self._folds, self._blobs = Folds(blobs), blobs
        reading = Reading(Home(Path("/state")), Looking(session), blobs, UTC, self._folds)
        moment = Moment(datetime.now(UTC), False, Path("/shop"))
        status = {view.slug: plan_json(view, moment) for view in plan_views(session, blobs, LOCAL, REPO)}
        if not status:
            return
        now = now_page(reading)
        assert listed(now) == {slug: row(one) for slug, one in status.items()}
        for slug, one in status.items():
            page = plan_page(reading, REPO, one["path"])
            assert page is not None
            assert (page.title, page.below[0]) == (slug, Mark(one["state"], tone(page.below)))
            assert phases(page) == [
                (f"{phase['id']} {phase['title']}".strip(), phase["state"]) for phase in one["phases"]
            ]
        asked = {
            question["id"] for one in status.values() if one["run"] for question in one["run"]["questions"]
        }
        assert asked <= questions(inbox_page(reading)) <= questions(now)
        self.compared += 1


def row(status: dict[str, Any]) -> tuple[str, str, str]:
    """Return the state, the progress and the cost of a plan."""
    usd = status["cost"]["usd"]
    done = sum(phase["state"] in ("proven", "landed", "done") for phase in status["phases"])
    far = f"{done} of {len(status['phases'])}" if status["phases"] else ""
    return status["state"], far, f"${usd:.2f}" if usd else ""


def listed(page: Document) -> dict[str, tuple[str, str, str]]:
    """Return the same of each plan on the first page."""
    (table,) = [
        block for block in blocks(page.blocks) if isinstance(block, Table) and block.head[-1] == "cost"
    ]
    return {
        text(name): (text(state), text(done), text(cost).removesuffix("+").removesuffix("unknown"))
        for name, state, done, cost in table.rows
    }


def phases(page: Document) -> list[tuple[str, str]]:
    tables = [block for block in blocks(page.blocks) if isinstance(block, Table) and block.head[0] == "phase"]
    return [(text(name), text(state)) for table in tables for name, state, *_ in table.rows]


def questions(page: Document) -> set[str]:
    points = [point for block in blocks(page.blocks) if isinstance(block, Points) for point in block.points]
    links = [
        word
        for point in points
        for word in point.words
        if isinstance(word, Link) and "/question/" in word.href
    ]
    return {link.text.partition(" ")[0] for link in links}


def tone(words: Words) -> Any:  # noqa: ANN401 - the tone is not compared
    (mark,) = [word for word in words if isinstance(word, Mark)]
    return mark.tone


def text(words: Words) -> str:
    return "".join(
        word.text if isinstance(word, Link) else word.word if isinstance(word, Mark) else str(word)
        for word in words
    ).strip()


def blocks(found: Iterable[Block]) -> Iterator[Block]:
    for block in found:
        yield block
        match block:
            case Section():
                yield from blocks(block.blocks)
            case Beside():
                yield from blocks((*block.left, *block.right))
            case _:
                pass


@pytest.mark.parametrize("first", [0, FIRST])
def test_the_board_shows_what_status_shows_after_every_transaction(first: int) -> None:
    both = Both()
    with simulator(both.look) as play:
        for seed in range(first, first + SLICE):
            assert play.play(seed).broken is None
    assert both.compared > 20 * SLICE
