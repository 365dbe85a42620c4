"""Find what belongs to no single run: check environments, scratch, logs, and outputs that no event names."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from asbuilt.flows.cleanup.leftovers import Thing, size_of
from asbuilt.flows.environments.files import locked
from asbuilt.git.workspace.checkouts import delete
from asbuilt.journal import runs
from asbuilt.journal.queries.unreferenced import unnamed
from asbuilt.lifecycle import retention
from asbuilt.lifecycle.retention import OUTPUT_DAYS, Fate, Goes, Stays

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.home import Home
    from asbuilt.journal.runs import Run


class Commons:
    """Files in the state folder that belong to no single run."""

    def __init__(self, home: Home, store: Store, blobs: Blobs, *, org: str, repo: str) -> None:
        self._home = home
        self._store = store
        self._blobs = blobs
        self._repo = repo
        with store.read() as session:
            self._now = session.now
            self._open = runs.open_of(session, org)

    def find(self, *, days: int) -> Iterator[Thing]:
        """Find them."""
        for folder in sorted((self._home.path / "setups" / self._repo).glob("*/*")):
            if folder.is_dir() and any(folder.iterdir()):
                name, fate = f"{folder.parent.name[:12]}/{folder.name}", _fate_of_environment(folder)
                remove = partial(_empty_environment, folder)
                yield Thing("environment", name, size_of(folder), fate, remove)
        for folder in sorted(self._home.scratch.glob("*")):
            fate = _fate_of_scratch(self._open)
            yield Thing("scratch", folder.name, size_of(folder), fate, partial(delete, folder))
        for file in [self._home.path / "worker.log.1", *sorted((self._home.path / "crashes").glob("*.log"))]:
            if file.is_file():
                fate = retention.of_age("written", _written_at(file), now=self._now, days=days)
                yield Thing("log", file.name, size_of(file), fate, partial(delete, file))
        yield from self._outputs()

    def _outputs(self) -> Iterator[Thing]:
        with self._store.read() as session:
            files = unnamed(session, self._blobs)
        for file in files:
            fate = self._unwanted("no event names it; written", file)
            yield Thing("output", file.name[:12], size_of(file), fate, partial(self._blobs.let_go, file))
        for file in self._blobs.torn():
            fate = self._unwanted("it was cut off; written", file)
            yield Thing("output", file.name[1:13], size_of(file), fate, partial(delete, file))

    def _unwanted(self, what: str, file: Path) -> Fate:
        return retention.of_age(what, _written_at(file), now=self._now, days=OUTPUT_DAYS)


def _fate_of_environment(folder: Path) -> Fate:
    with locked(folder, waits=False) as mine:
        return Goes("setup creates it again when a run needs it") if mine else Stays("a check runs in it now")


def _empty_environment(folder: Path) -> None:
    """Delete the contents of a check environment but not its folder: a waiting check has it open."""
    with locked(folder, waits=False) as mine:
        for path in sorted(folder.iterdir()) if mine else ():
            delete(path)


def _fate_of_scratch(open_runs: list[Run]) -> Fate:
    if open_runs:
        return Stays(f"{open_runs[0].name} is not over, and may use it")
    return Goes("no run is open that could use it")


def _written_at(file: Path) -> str:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()
