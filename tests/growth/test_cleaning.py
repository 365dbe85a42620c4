"""What `clean` asks the journal does not grow with plans that are finished and have left nothing."""

from __future__ import annotations

import subprocess
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from asbuilt.flows.cleanup import Leavings
from asbuilt.git.repository import open_repository
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.home import Home
from tests.growth.rows import REPO, begin, grow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.journal.database.sqlite import SqliteSession
    from asbuilt.journal.database.store import Row

FEW, MANY = 200, 2_000


class Counting(SqliteStore):
    """A store that counts the rows that it gives."""

    given = 0

    @contextmanager
    def read(self) -> Iterator[SqliteSession]:
        with super().read() as session:
            rows = session.rows

            def counted(sql: str, **values: object) -> list[Row]:
                found = rows(sql, **values)
                self.given += len(found) + 1
                return found

            session.rows = counted  # type: ignore[method-assign]
            yield session


def test_cleaning_costs_the_same_after_many_finished_plans(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "shop"], check=True)  # noqa: S607
    home, blobs = Home(tmp_path / "state"), Blobs(tmp_path / "blobs")
    (home.runs / "0run-first").mkdir(parents=True)
    repository = open_repository(tmp_path / "shop")

    def given(store: Counting) -> tuple[int, list[str]]:
        store.given = 0
        left = Leavings((home, store, blobs), repository, repo=REPO)
        found = [f"{one.kind} {one.name}" for one in (*left.find(days=0), *left.strange())]
        return store.given, found

    with closing(Counting(tmp_path / "journal.db")) as store:
        store.migrate(STEPS)
        begin(store, blobs)
        grow(store, FEW)
        few = given(store)
        grow(store, MANY, before=FEW)
        assert given(store) == few
    assert few[1] == ["log first.1"]
