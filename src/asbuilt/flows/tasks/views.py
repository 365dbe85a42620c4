"""Write the two views of a ledger, together, in place or for a commit.

Rule: the new contents are in the store before a file is written, so that the next process can finish.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.errors import GateStopped, NameTaken, NotFound, PlanChanged
from asbuilt.git.repository import Repository, checkouts, path_state
from asbuilt.ledger import tasks
from asbuilt.library.reading import read_bytes
from asbuilt.library.writing import clear_away, create, replace
from asbuilt.lifecycle.tasks.state_json import STATE, read_state
from asbuilt.lifecycle.tasks.todo import PLACES
from asbuilt.lifecycle.tasks.views import Pair, by_hand, render, taken
from asbuilt.plan.markdown.source import digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.journal.database.store import Session, Transactions
    from asbuilt.lifecycle.tasks.model import Task

_NAMED = 5


class Found(NamedTuple):
    """The views of a checkout or a commit."""

    todo: str
    """Path of `TODO.md`, one of `PLACES`."""
    pair: Pair


def found_in(read: Callable[[str], bytes | None]) -> Found:
    """Find the views; a `TODO.md` that does not exist yet gets the first of its places."""
    todos = {place: read(place) for place in PLACES}
    place = next((place for place, data in todos.items() if data is not None), PLACES[0])
    return Found(place, Pair(read(STATE), todos[place]))


def found_here(checkout: Path) -> Found:
    """Find the views in a checkout."""

    def read(path: str) -> bytes | None:
        try:
            return read_bytes(checkout / path, name=path)
        except NotFound:
            return None

    return found_in(read)


def found_at(repository: Repository, commit: str) -> Found:
    """Find the views in a commit."""

    def read(path: str) -> bytes | None:
        there = repository.git.said("cat-file", "blob", f"{commit}:{path}", allowed=(0, 128))
        return None if there.code else there.out

    return found_in(read)


def are_committed(repository: Repository, checkout: Path, found: Found) -> bool:
    """Return whether both views may be changed by a commit: neither has uncommitted edits in the checkout."""
    here = next((one for one in checkouts(repository) if one.path.resolve() == checkout.resolve()), None)
    paths = (STATE, found.todo)
    return here is not None and all(path_state(here, path) in ("clean", "missing") for path in paths)


def _shown(session: Session, org: str, repo: str, pair: Pair) -> list[dict[int, Task]]:
    """Return the tasks as of the write of these views, and as of the last import."""
    times = {read_state(pair.state).seq, tasks.head(session, org, repo).imported}
    return [tasks.as_of(session, org, repo, seq) for seq in sorted(filter(None, times))]


def wanted_by_hand(session: Session, org: str, repo: str, pair: Pair) -> dict[int, Task]:
    """Return the tasks that would change if the users' edits of the views were imported."""
    return taken(pair, tasks.every(session, org, repo), _shown(session, org, repo, pair))


def rendered(session: Session, org: str, repo: str, found: Found) -> Pair:
    """Return the new views; refuse if users have edited them."""
    known = tasks.every(session, org, repo)
    differ = by_hand(found.pair, known, _shown(session, org, repo, found.pair))
    if differ:
        told = "; ".join(one.words for one in differ[:_NAMED])
        raise GateStopped(
            f"{found.todo} and {STATE} were edited by hand: {told}",
            why="asbuilt never overwrites edits by hand.",
            next_step="`asbuilt task import` imports them into the ledger; or undo them in the file.",
        )
    head = tasks.head(session, org, repo)
    return render(found.pair, known, next_number=head.next_number, seq=head.seq)


def write_here(store: Transactions, org: str, repo: str, checkout: Path) -> list[str]:
    """Update both views in a checkout; return the paths of those that changed."""
    finish(store, org, repo)
    with store.write() as session:
        if tasks.hold(session, org, repo).writing is not None:
            # Another process has just started to write: its contents are as new as ours.
            return []
        # The ledger is locked, so no other asbuilt process writes them, and both views match.
        found = found_here(checkout)
        after = rendered(session, org, repo, found)
        files = [
            [path, None if old is None else digest(old), (new or b"").decode("latin-1")]
            for path, old, new in zip((STATE, found.todo), found.pair, after, strict=True)
            if old != new
        ]
        if not files:
            return []
        tasks.set_writing(session, org, repo, {"checkout": str(checkout), "files": files})
    finish(store, org, repo)
    return [str(path) for path, _, _ in files]


def finish(store: Transactions, org: str, repo: str) -> None:
    """Finish an interrupted write of the views; without one, do nothing.

    The ledger is locked meanwhile. A killed process leaves a temporary file beside a view only while that
    view is still to be written, so the process that finishes can identify and delete it.
    """
    with store.read() as session:
        if tasks.head(session, org, repo).writing is None:
            return
    with store.write() as session:
        writing = tasks.hold(session, org, repo).writing
        if writing is None:
            return
        checkout, files = Path(writing["checkout"]), writing["files"]
        changed = [path for path, old, new in files if _at(checkout / path) not in (old, _digest(new))]
        changed = changed or [path for path, old, new in files if not _written(checkout / path, old, new)]
        tasks.set_writing(session, org, repo, None)
    if changed:
        raise PlanChanged(
            f"{', '.join(changed)} was changed while it was being written",
            why="Another program's text would be lost, so the file stays as it is.",
            next_step="`asbuilt task import` shows the difference, `asbuilt task export` writes it again.",
        )


def _digest(text: str) -> str:
    return digest(text.encode("latin-1"))


def _at(file: Path) -> str | None:
    try:
        return digest(read_bytes(file, name=file.name))
    except NotFound:
        return None


def _written(file: Path, old: str | None, new: str) -> bool:
    """Write one view, unless it is written; False if another process has changed it."""
    data = new.encode("latin-1")
    try:
        if _at(file) == old and old is None:
            create(file, data, name=file.name)
        elif _at(file) == old:
            replace(file, data, expected=old or "", name=file.name)
    except (NameTaken, PlanChanged):
        return _at(file) == digest(data)
    clear_away(file, is_known=lambda left: data.startswith(left) or digest(left) == old)
    return _at(file) == digest(data)
