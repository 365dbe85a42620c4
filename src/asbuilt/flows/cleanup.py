"""Find and delete leftovers of runs, and files that belong to no single run.

Workspaces and refs are checked again at the moment of removal. No state is kept here, so that an interrupted
cleanup can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from asbuilt.errors import GitFailed, NotLanded
from asbuilt.events.attempts import AttemptBegun, AttemptLetGo
from asbuilt.events.landings import LandingDone, LandingUndone
from asbuilt.events.phases import PhaseMerged
from asbuilt.flows.environments.results import locked
from asbuilt.flows.run.record import ACTOR
from asbuilt.git.locks import drop_ref
from asbuilt.git.objects import tree_of
from asbuilt.git.refs import holding, listed
from asbuilt.git.repository import Repository, tip
from asbuilt.git.workspace import snapshots, workspaces
from asbuilt.git.workspace.checkouts import delete
from asbuilt.git.workspace.workspaces import Leftover
from asbuilt.journal import runs
from asbuilt.journal.encoding.codec import whole
from asbuilt.journal.events import append, of_kinds
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.unreferenced import unnamed
from asbuilt.journal.runs import Run
from asbuilt.lifecycle import retention
from asbuilt.lifecycle.retention import OUTPUT_DAYS, Fate, Goes, Made, Stays, attempts_in
from asbuilt.ports import Kept

if TYPE_CHECKING:
    from asbuilt.git.forge.branches import Remote
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.home import Home

Kind = Literal["workspace", "attempt", "environment", "scratch", "log", "output"]
_LAST_STEPS = (AttemptBegun.kind, PhaseMerged.kind, LandingDone.kind, LandingUndone.kind)
"""Events with the start of an attempt or its merge, and with the landing of its phase."""


class Thing(NamedTuple):
    """Something that asbuilt made, its size on disk, and whether it goes or stays."""

    kind: Kind
    name: str
    size: int
    fate: Fate
    remove: Callable[[], object]


class Leavings:
    """Leftovers of the runs of some plans, in their repository and in the state folder."""

    def __init__(
        self,
        journal: tuple[Home, Store, Blobs],
        repository: Repository,
        *,
        repo: str,
        plan: Address | None = None,
        attempts: Remote | None = None,
    ) -> None:
        """List what exists of any run, or of the runs of one plan; query the journal for those runs only.

        Finished plans without leftovers therefore cost nothing. `attempts` is where a fleet keeps attempts.
        """
        self._home, self._store, self._blobs = journal
        self._repository = repository
        self._leftovers = workspaces.leftovers(repository, self._home.workspaces / repo)
        self._remote = attempts
        shared = attempts.listed(f"{snapshots.ATTEMPTS}*", f"{snapshots.RESULTS}*") if attempts else {}
        self._shared = shared
        results = [*shared, *(ref for ref, _ in listed(repository, snapshots.RESULTS))]
        self._results = sorted({ref for ref in results if ref.startswith(snapshots.RESULTS)})
        self._refs = {
            ref.removeprefix(snapshots.ATTEMPTS): commit
            for ref, commit in (*shared.items(), *listed(repository, snapshots.ATTEMPTS))
            if ref.startswith(snapshots.ATTEMPTS)
        }
        folders = [folder.name for folder in self._home.runs.glob("*")]
        there = {rest.run for rest in self._leftovers} | {name.partition(".")[0] for name in self._refs}
        there |= {_run_of(ref) for ref in self._results}
        with self._store.read() as session:
            self._now = session.now
            found = [runs.find(session, LOCAL, repo, run) for run in sorted(there.union(folders))]
        known = [run for run in found if run is not None and (plan is None or run.plan == plan.plan)]
        newest_first = sorted(known, key=lambda run: (run.plan, -run.number))
        self._runs = {run.run: run for run in newest_first}

    def find(self, *, days: int) -> Iterator[Thing]:
        """Find them, workspaces first: the refs that follow may be all that holds their commits."""
        for leftover in self._leftovers:
            if leftover.run in self._runs:
                yield self._workspace(leftover, self._runs[leftover.run])
        kept = (self._runs.get(name.partition(".")[0]) for name in self._refs)
        for plan in sorted({run.address for run in kept if run is not None}):
            yield from self._attempts(plan, days)
        for run in self._runs.values():
            folder = self._home.runs / run.run
            if run.ended_at is not None and folder.is_dir():
                what = "logs of its agents; it ended"
                fate = retention.of_age(what, run.ended_at, now=self._now, days=days)
                yield Thing("log", run.name, size_of(folder), fate, partial(delete, folder))
            results = [ref for ref in self._results if _run_of(ref) == run.run]
            if run.ended_at is not None and results:
                what = "results of its agents, for other workers; it ended"
                fate = retention.of_age(what, run.ended_at, now=self._now, days=days)
                yield Thing("output", run.name, 0, fate, partial(self._drop, results))

    def strange(self) -> Iterator[Thing]:
        """Find what no run of these plans made. Its worth is unknown, so it stays."""
        fate = Stays("the journal does not know its run")
        for rest in self._leftovers:
            if rest.run not in self._runs:
                name, size = f"{rest.run} {rest.lane}", size_of(rest.workspace.path)
                yield Thing("workspace", name, size, fate, lambda: None)
        for name in self._refs:
            if name.partition(".")[0] not in self._runs:
                yield Thing("attempt", name, 0, fate, lambda: None)

    def _workspace(self, leftover: Leftover, run: Run) -> Thing:
        path = leftover.workspace.path
        kept: Kept | None = None
        fate: Fate = Stays("its run is not over")
        if run.is_over:
            try:
                fate, kept = judged(self._repository, leftover)
            except (NotLanded, GitFailed) as error:
                fate = Stays(error.what)
        remove = partial(remove_workspace, self._repository, leftover, kept)
        # Folders of older versions are named by their lane alone.
        name = leftover.lane if leftover.lane.startswith(run.name) else f"{run.name} {leftover.lane}"
        return Thing("workspace", name, size_of(path), fate, remove)

    def _attempts(self, plan: Address, days: int) -> Iterator[Thing]:
        """Judge the attempts of a plan whose trees are kept, newest first."""
        with self._store.read() as session:
            entries = [whole(entry, self._blobs.get) for entry in of_kinds(session, plan, _LAST_STEPS)]
        landed = retention.landings(entries)
        for made in sorted(attempts_in(entries), key=lambda attempt: attempt.began_at, reverse=True):
            run, commit = self._runs.get(made.run), self._refs.get(made.id)
            if run is None or commit is None:
                continue
            fate: Fate = Stays("its run is not over")
            if run.is_over:
                fate = retention.of_attempt(
                    made.phase, began_at=made.began_at, landed_at=landed.get(made.phase), now=self._now,
                    days=days,
                )  # fmt: skip
            name = f"{run.name}.{made.phase}.{made.number}"
            yield Thing("attempt", name, 0, fate, partial(self._let_go, plan, made, commit))

    def _let_go(self, plan: Address, made: Made, commit: str) -> None:
        """Record the deletion first; otherwise the history would name a ref that does not exist."""
        event = AttemptLetGo(phase=made.phase, number=made.number, commit=commit)
        with self._store.write() as session:
            append(session, plan, event, key=f"{made.id}/let-go", actor=ACTOR, run=made.run)
        self._drop_shared([snapshots.ATTEMPTS + made.id])
        snapshots.let_go(self._repository, made.id, commit)

    def _drop(self, results: list[str]) -> None:
        """Delete results of agents here and on the attempts remote: only an open run reads them."""
        self._drop_shared(results)
        for ref in results:
            if (blob := tip(self._repository, ref)) is not None:
                drop_ref(self._repository, ref, old=blob)

    def _drop_shared(self, refs: list[str]) -> None:
        gone = [ref for ref in refs if ref in self._shared]
        if self._remote is not None and gone:
            self._remote.push_refs({}, gone=gone, known=self._shared)


def _run_of(result: str) -> str:
    return result.removeprefix(snapshots.RESULTS).partition(".")[0]


def judged(repository: Repository, leftover: Leftover) -> tuple[Fate, Kept | None]:
    """Check whether all commits and files of a workspace also exist elsewhere."""
    workspace = leftover.workspace
    if not leftover.here:
        return Goes("its folder is gone"), None
    workspaces.refuse_unreachable(repository, workspace)
    head = workspaces.head_of(repository, workspace)
    commits = f"its commits are on {holding(repository, head)}"
    if snapshots.is_at(repository, workspace.path, tree_of(repository.git, head)):
        return Goes(f"{commits}, its tree is clean"), None
    for ref, commit in listed(repository, f"{snapshots.ATTEMPTS}{leftover.run}.*"):
        tree = tree_of(repository.git, commit)
        if snapshots.is_at(repository, workspace.path, tree):
            kept = Kept(commit=commit, tree=tree, ref=ref, ignored=())
            return Goes(f"{commits}, its files are kept at {ref}"), kept
    return Stays("it has files that exist nowhere else"), None


def remove_workspace(repository: Repository, leftover: Leftover, kept: Kept | None) -> None:
    """Remove a workspace; `kept` is the snapshot of its files, if they differ from its commit's."""
    if kept is not None:
        head = workspaces.head_of(repository, leftover.workspace)
        workspaces.reset_to(repository, leftover.workspace, head, kept=kept)
    workspaces.remove(repository, leftover.workspace)


def remove_finished(repository: Repository, store: Store, root: Path, run: Run) -> None:
    """Remove workspaces of a plan's finished runs, each only if nothing is lost. `clean` lists the others."""
    for leftover in workspaces.leftovers(repository, root):
        with store.read() as session:
            other = runs.find(session, run.org, run.repo, leftover.run)
        if other is not None and other.plan == run.plan and other.is_over:
            with suppress(NotLanded, GitFailed, OSError):
                fate, kept = judged(repository, leftover)
                if isinstance(fate, Goes):
                    remove_workspace(repository, leftover, kept)


def size_of(path: Path) -> int:
    """Return the size of a file, or of all files below a folder."""
    if not path.is_dir() or path.is_symlink():
        return path.lstat().st_size if path.exists() else 0
    return sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())


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
                with locked(folder, waits=False) as mine:
                    fate: Fate = Goes("setup creates it again when a run needs it")
                    if not mine:
                        fate = Stays("a check runs in it now")
                name, remove = f"{folder.parent.name[:12]}/{folder.name}", partial(_empty_environment, folder)
                yield Thing("environment", name, size_of(folder), fate, remove)
        fate = Goes("no run is open that could use it")
        if self._open:
            fate = Stays(f"{self._open[0].name} is not over, and may use it")
        for folder in sorted(self._home.scratch.glob("*")):
            yield Thing("scratch", folder.name, size_of(folder), fate, partial(delete, folder))
        yield from self.old(days=days)

    def old(self, *, days: int) -> Iterator[Thing]:
        """Find those that age alone decides about: logs and outputs."""
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


def _empty_environment(folder: Path) -> None:
    """Delete the contents of a check environment but not its folder: a waiting check has it open."""
    with locked(folder, waits=False) as mine:
        for path in sorted(folder.iterdir()) if mine else ():
            delete(path)


def _written_at(file: Path) -> str:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()
