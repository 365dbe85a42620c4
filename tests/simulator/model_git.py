"""A git repository as a model: trees, commits, refs, one checkout, workspaces.

The one rule: it does what the shipped adapter promises at its own functions, crashes included. How the
adapter keeps that with a real git is tried in `tests/git`.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import GitFailed, LandingRefused, RepositoryBusy, TreeTooLarge
from asbuilt.git import commits as real_commits
from asbuilt.git import landing, snapshots
from asbuilt.git.commits import Commit, Outcome, Person, trailer
from asbuilt.git.repository import Checkout
from asbuilt.git.workspaces import Leftover
from asbuilt.ports import Kept, Workspace
from tests.simulator.stage import Unlawful

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from asbuilt.git.candidates import Candidate, Edit
    from tests.simulator.stage import Actor, Stage

Files = dict[str, bytes]
PERSON: Final = Person(name="A Person", email="a@person", at=datetime(2026, 1, 1, tzinfo=UTC))
LARGE: Final = b"large"


class Said(NamedTuple):
    """What git answers."""

    code: int
    out: bytes


class Space:
    """A workspace: where it is, what it is at, and the files that lie in it."""

    def __init__(self, run: str, lane: str) -> None:
        self.run = run
        self.lane = lane
        self.head = ""
        self.files: Files = {}
        self.is_ready = False
        self.lent: str | None = None


class Model:
    """One repository."""

    def __init__(self, stage: Stage, root: Path, is_full: Callable[[], bool]) -> None:
        self.stage = stage
        self.root = root
        self.common = root / ".git"
        self.git_dir = self.common
        self.nothing = "0" * 40
        self.trees: dict[str, Files] = {}
        self.commits: dict[str, Commit] = {}
        self.refs: dict[str, str] = {}
        self.spaces: dict[Path, Space] = {}
        self.carried = ""
        """The commit whose files lie in the checkout."""
        self.plans: list[str] = []
        self.ready: set[str] = set()
        """The setups that stand."""
        self.shown: set[tuple[str, str, bool]] = set()
        """What was run on which tree, and whether it passed."""
        self.is_busy: Callable[[Path], bool] = lambda _path: False
        """Tell whether an agent works in a workspace."""
        self.moved: Callable[[str, str | None, str], None] = lambda _ref, _old, _new: None
        self._is_full = is_full
        self._holder: Actor | None = None

    @property
    def git(self) -> Model:
        return self

    def said(self, *words: str, allowed: tuple[int, ...] = ()) -> Said:
        """Answer the one command that flows give by themselves: the bytes of a file at a commit."""
        assert words[:2] == ("cat-file", "blob"), words
        assert allowed
        at, _, path = words[2].partition(":")
        found = self.files(at).get(path)
        return Said(128, b"") if found is None else Said(0, found)

    def files(self, commit: str) -> Files:
        """Return the files of a commit."""
        return self.trees[self.commits[commit].tree]

    def tree(self, files: Mapping[str, bytes]) -> str:
        """Store a tree."""
        whole = dict(sorted(files.items()))
        name = hashlib.sha1(repr(whole).encode(), usedforsecurity=False).hexdigest()
        self.trees[name] = whole
        return name

    def store(self, commit: Commit) -> str:
        """Store a commit under the name of its content."""
        content = repr((commit.tree, commit.parents, commit.author, commit.message))
        name = hashlib.sha1(content.encode(), usedforsecurity=False).hexdigest()
        self.commits[name] = replace(commit, name=name)
        return name

    def history(self, at: str) -> list[str]:
        """List a commit and all before it, the newest first; a merge's side comes after its line."""
        seen: dict[str, None] = {}
        ahead = [at]
        while ahead:
            here = ahead.pop(0)
            if here not in seen:
                seen[here] = None
                ahead += self.commits[here].parents
        return [*seen]

    def write(self, what: str) -> None:
        """Pass a point before something is written; the disk may be full."""
        self.stage.point()
        if self._is_full():
            raise GitFailed(
                f"git {what} failed", why="git said: No space left on device", next_step="Make room."
            )

    def swap(self, ref: str, new: str | None, old: str | None) -> bool:
        """Move a ref from one commit to another, or not at all."""
        if self.refs.get(ref) != old:
            return False
        if new is None:
            del self.refs[ref]
            return True
        self.refs[ref] = new
        self.stage.tell(f"{ref} {(old or 'nothing')[:7]} -> {new[:7]}")
        self.moved(ref, old, new)
        return True

    def carry(self, new: str) -> None:
        """Put the checkout at a commit; what a person has changed stays as it is."""
        for plan in self.plans:
            file = self.root / plan
            there, here = self.files(new).get(plan), self.files(self.carried).get(plan)
            if there is not None and there != here and file.read_bytes() == here:
                file.write_bytes(there)
        self.carried = new

    @contextmanager
    def hold(self, patience_s: float) -> Iterator[int]:
        """Hold the repository; who holds it and stands still makes all others wait."""
        mine, until = self.stage.current, self.stage.now + patience_s
        while self._holder not in (None, mine):
            if self.stage.now > until:
                raise RepositoryBusy("another asbuilt is at work", why="It has not ended.", next_step="Wait.")
            self.stage.sleep(5.0)
        before, self._holder = self._holder, mine
        try:
            yield 0
        finally:
            self._holder = before


def tip(repository: Model, ref: str) -> str | None:
    repository.stage.point()
    return repository.refs.get(ref)


def checkouts(repository: Model) -> tuple[Checkout, ...]:
    branch, folder = "refs/heads/main", repository.git_dir
    return (Checkout(path=repository.root, git_dir=folder, branch=branch, commit=repository.refs[branch]),)


def state_of(repository: Model, path: str) -> str:
    """Tell what git thinks of the plan's file, by its bytes in the checkout."""
    file, there = repository.root / path, repository.files(repository.carried).get(path)
    if there is None:
        return "untracked" if file.exists() else "missing"
    return "clean" if file.exists() and file.read_bytes() == there else "dirty"


def rewrite(repository: Model, commit: Commit, *, sign: bool) -> str:
    del sign
    repository.write("commit-tree")
    return repository.store(commit)


def read_commit(repository: Model, name: str) -> Commit:
    return repository.commits[name]


def contains(repository: Model, history: str, commit: str) -> bool:
    return commit in repository.history(history)


def outcomes(repository: Model, at: str, run: str, *, since: str | None = None) -> tuple[Outcome, ...]:
    before = set(repository.history(since)) if since else set()
    found: dict[str, Outcome] = {}
    for name in reversed(repository.history(at)):
        if name in before:
            continue
        message = repository.commits[name].message
        for reverted in real_commits._REVERTS.findall(message):  # noqa: SLF001 - as the adapter reads it
            known = found.get(reverted.decode())
            if known is not None:
                found[known.commit] = replace(known, undone=True)
        if trailer(message, real_commits.RUN) == run:
            phase = trailer(message, real_commits.PHASE) or ""
            found[name] = Outcome(commit=name, run=run, phase=phase, undone=False)
    return tuple(found.values())


def set_ref(repository: Model, ref: str, *, new: str, old: str | None, why: str = "asbuilt") -> bool:
    del why
    repository.write("update-ref")
    return repository.swap(ref, new, old)


def drop_ref(repository: Model, ref: str, *, old: str) -> None:
    repository.write("update-ref")
    if not repository.swap(ref, None, old):
        raise GitFailed(f"{ref} is not at {old[:7]}", why="git update-ref refused.", next_step="Look.")


def merged(git: Model, *, base: str, ours: str, theirs: str) -> str | tuple[str, ...]:
    first, here, there = git.files(base), git.files(ours), git.files(theirs)
    result, clash = dict(here), []
    for path in {*first, *here, *there}:
        was, mine, other = first.get(path), here.get(path), there.get(path)
        if other in (was, mine):
            continue
        if mine != was:
            clash.append(path)
        elif other is None:
            del result[path]
        else:
            result[path] = other
    return tuple(sorted(clash)) if clash else git.tree(result)


def add_files(
    repository: Model, candidate: Candidate, edit: Edit, *, run: str, sign: bool = False
) -> Candidate:
    del run
    tree = repository.tree({**repository.files(candidate.tip), **edit.files})
    if tree == repository.commits[candidate.tip].tree:
        return candidate
    last = Commit(
        name="", tree=tree, parents=(candidate.tip,), author=edit.by, committer=edit.by, message=edit.message
    )
    return replace(candidate, tip=rewrite(repository, last, sign=sign))


def look(repository: Model, checkout: Checkout, ref: str, old: str, new: str) -> landing.Refused | None:
    """Refuse to carry the checkout over what a person has changed."""
    del checkout
    before, after = repository.files(old), repository.files(new)
    mine = [
        path
        for path in repository.plans
        if before.get(path) != after.get(path) and state_of(repository, path) != "clean"
    ]
    if not mine:
        return None
    what = f"Not landed: {mine[0]} has changes of yours."
    return landing.Refused(
        kind="your_changes", paths=tuple(mine), what=what, why=f"{ref} is checked out.", next_step="Commit."
    )


def push(repository: Model, intent: landing.Intent, held: Checkout | None, *_: object) -> str:
    """Carry the checkout, then move the branch: in this order git does it, and can die between the two."""
    repository.stage.point()
    if repository.refs.get(intent.ref) != intent.old:
        return "asbuilt: the tip has moved"
    if held is not None:
        repository.carry(intent.new)
    repository.stage.point()
    moved = repository.swap(intent.ref, intent.new, intent.old)
    repository.stage.point()
    return "" if moved else "asbuilt: the tip has moved"


def settle(repository: Model, *_: object) -> landing.Settled:
    """Put the checkout where its branch is."""
    at = repository.refs["refs/heads/main"]
    restored = (repository.carried,) if repository.carried != at else ()
    repository.carry(at)
    return landing.Settled(restored=restored, left=())


def make(
    repository: Model, root: Path, run: str, lane: str, commit: str, *, files_of: str | None = None
) -> Workspace:
    path = root / run / lane
    repository.stage.point()
    space = repository.spaces.setdefault(path, Space(run, lane))
    if not space.is_ready:
        repository.write("worktree add")
        path.mkdir(parents=True, exist_ok=True)
        space.head, space.files = commit, dict(repository.files(files_of or commit))
        space.is_ready = True
    return Workspace(path=path, git_dir=path / ".git", common=repository.common)


def lend(repository: Model, workspace: Workspace, attempt: str) -> None:
    repository.stage.point()
    repository.spaces[workspace.path].lent = attempt


def lent_to(repository: Model, workspace: Workspace) -> str | None:
    return repository.spaces[workspace.path].lent


def tree_at(repository: Model, commit: str) -> str:
    return repository.commits[commit].tree


def leftovers(repository: Model, root: Path) -> tuple[Leftover, ...]:
    return tuple(
        Leftover(
            workspace=Workspace(path=path, git_dir=path / ".git", common=repository.common),
            run=space.run,
            lane=space.lane,
            ready=space.is_ready,
            here=True,
        )
        for path, space in repository.spaces.items()
        if path.parent.parent == root
    )


def reset_to(repository: Model, workspace: Workspace, commit: str, *, kept: Kept) -> None:
    repository.stage.point()
    space = repository.spaces[workspace.path]
    _alone(repository, workspace)
    there = repository.commits[commit].tree
    is_untouched = space.files == repository.files(space.head)
    if repository.tree(space.files) not in (there, kept.tree) and not is_untouched:
        raise LandingRefused(
            "the workspace has files that are not kept", why="Nobody has.", next_step="Keep."
        )
    if kept.ref not in repository.refs or not contains(repository, repository.refs[kept.ref], kept.commit):
        raise LandingRefused(
            f"the snapshot {kept.ref} is gone", why="Files would be lost.", next_step="Keep."
        )
    repository.write("read-tree")
    space.head, space.files, space.lent = commit, dict(repository.files(commit)), None


def put_back(
    repository: Model, workspace: Workspace, path: str, *, kept: Kept, base: str, author: Person
) -> Kept:
    wanted, found = repository.files(base).get(path), repository.trees[kept.tree]
    if found.get(path) == wanted:
        return kept
    files = {name: data for name, data in found.items() if name != path}
    tree = repository.tree(files if wanted is None else {**files, path: wanted})
    message = f"Put {path} back\n".encode()
    made = Commit(
        name="", tree=tree, parents=(base, kept.commit), author=author, committer=author, message=message
    )
    commit = rewrite(repository, made, sign=False)
    set_ref(repository, kept.ref, new=commit, old=kept.commit)
    reset_to(repository, workspace, commit, kept=kept)
    return replace(kept, commit=commit, tree=tree)


def remove(repository: Model, workspace: Workspace) -> None:
    repository.stage.point()
    space = repository.spaces[workspace.path]
    _alone(repository, workspace)
    if space.files != repository.files(space.head):
        raise LandingRefused(
            "the workspace has files that are not kept", why="Nobody has.", next_step="Keep."
        )
    if not any(contains(repository, at, space.head) for at in repository.refs.values()):
        raise LandingRefused(
            "it holds a commit that no branch has", why="It would be lost.", next_step="Keep."
        )
    del repository.spaces[workspace.path]
    workspace.path.rmdir()
    repository.stage.point()


def keep(repository: Model, workspace: Workspace, attempt: str, *, parent: str, at: datetime) -> Kept:
    ref = snapshots.ATTEMPTS + attempt
    repository.stage.point()
    before = repository.refs.get(ref)
    space = repository.spaces[workspace.path]
    _alone(repository, workspace)
    if LARGE in space.files.values():
        raise TreeTooLarge("the attempt's files are too large", why="They are.", next_step="Remove them.")
    tree = repository.tree(space.files)
    if before is not None and repository.commits[before].tree == tree:
        return Kept(commit=before, tree=tree, ref=ref, ignored=())
    by = Person(name="asbuilt", email="asbuilt@localhost", at=at)
    parents = (parent,) if before is None else (parent, before)
    made = Commit(
        name="", tree=tree, parents=parents, author=by, committer=by, message=f"Attempt {attempt}\n".encode()
    )
    commit = rewrite(repository, made, sign=False)
    if not set_ref(repository, ref, new=commit, old=before):
        return keep(repository, workspace, attempt, parent=parent, at=at)
    return Kept(commit=commit, tree=tree, ref=ref, ignored=())


def names_in(repository: Model, tree: str, *, below: object = ()) -> dict[str, str]:
    del below
    return {path: path for path in repository.trees[tree]}


def text_of(repository: Model, file: str) -> str:
    del repository, file
    return ""


def quiet(repository: Model) -> nullcontext[Model]:
    return nullcontext(repository)


def _alone(repository: Model, workspace: Workspace) -> None:
    if repository.is_busy(workspace.path):
        raise Unlawful(f"{workspace.path} is touched while an agent works in it")
