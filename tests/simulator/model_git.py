"""A git repository as a model: trees, commits, refs, one checkout, workspaces.

The one rule: it does what the shipped adapter promises at its own functions, crashes included. How the
adapter keeps that with a real git is tried in `tests/git`.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from asbuilt.errors import GitFailed, RepositoryBusy
from asbuilt.git import commits as real_commits
from asbuilt.git.commits import Commit, Outcome, Person, trailer
from asbuilt.git.landing import land
from asbuilt.git.landing.checkout_update import HOOK_WAITS, Settled
from asbuilt.git.repository import Checkout
from asbuilt.proof.suites.model import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from asbuilt.git.landing.candidates import Candidate, Edit
    from tests.simulator.stage import Actor, Stage

Files = dict[str, bytes]
PERSON: Final = Person(name="A Person", email="a@person", at=datetime(2026, 1, 1, tzinfo=UTC))


class CommandResult(NamedTuple):
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
        self._holders: dict[Path, Actor | None] = {}

    @property
    def git(self) -> Model:
        return self

    def run(self, *words: str, allowed: tuple[int, ...] = ()) -> CommandResult:
        """Answer the one command that flows give by themselves: the bytes of a file at a commit or tree."""
        assert words[:2] == ("cat-file", "blob"), words
        at, _, path = words[2].partition(":")
        found = _files_at(self, at).get(path)
        assert found is not None or allowed, words
        return CommandResult(128, b"") if found is None else CommandResult(0, found)

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
    def hold(self, folder: Path, patience_s: float) -> Iterator[int]:
        """Hold a folder; who holds it and stands still makes all others wait."""
        mine, until = self.stage.current, self.stage.now + patience_s
        while (before := self._holders.get(folder)) not in (None, mine):
            if self.stage.now > until:
                raise RepositoryBusy("another asbuilt is at work", why="It has not ended.", next_step="Wait.")
            self.stage.sleep(5.0)
        self._holders[folder] = mine
        try:
            yield 0
        finally:
            self._holders[folder] = before


def tip(repository: Model, ref: str) -> str | None:
    repository.stage.point()
    return repository.refs.get(ref)


def checkouts(repository: Model) -> tuple[Checkout, ...]:
    branch, folder = "refs/heads/main", repository.git_dir
    return (Checkout(path=repository.root, git_dir=folder, branch=branch, commit=repository.refs[branch]),)


def checkouts_of(repository: Model, ref: str) -> tuple[Checkout, ...]:
    return tuple(one for one in checkouts(repository) if one.branch == ref)


def base_of(repository: Model, commit: str) -> str:
    return repository.commits[commit].parents[0]


def touched(repository: Model, before: str, after: str) -> dict[str, bool]:
    there, here = _files_at(repository, before), _files_at(repository, after)
    return {path: path in here for path in sorted({*there, *here}) if there.get(path) != here.get(path)}


def lines_of(repository: Model, commit: str, path: str) -> int | None:
    found = _files_at(repository, commit).get(path)
    return None if found is None else len(found.splitlines())


def entries(repository: Model, tree: str) -> dict[bytes, tuple[bytes, str]]:
    return {path.encode(): (b"100644", f"{tree}:{path}") for path in _files_at(repository, tree)}


def _files_at(repository: Model, name: str) -> Files:
    """Return the files of a commit or a tree."""
    return repository.trees[repository.commits[name].tree if name in repository.commits else name]


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


def outcomes(repository: Model, at: str, *runs: str, since: str | None = None) -> tuple[Outcome, ...]:
    before = set(repository.history(since)) if since else set()
    found: dict[str, Outcome] = {}
    for name in reversed(repository.history(at)):
        if name in before:
            continue
        message = repository.commits[name].message
        for reverted, _ in real_commits._REVERTS.findall(message):
            known = found.get(reverted.decode())
            if known is not None:
                found[known.commit] = replace(known, undone=True)
        if (run := trailer(message, real_commits.RUN)) in runs:
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


def merged(git: Model, _git: object, *, base: str, ours: str, theirs: str) -> str | tuple[str, ...]:
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


def merge_trees(repository: Model, *, base: str, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    result = merged(repository, repository, base=base, ours=ours, theirs=theirs)
    if isinstance(result, str):
        return result, ()
    sides = {
        path: b"<<<<<<< ours\n%s\n>>>>>>> theirs\n" % repository.files(theirs).get(path, b"")
        for path in result
    }
    rest = {
        path: data for path, data in repository.files(theirs).items() if path not in repository.files(base)
    }
    return repository.tree({**repository.files(ours), **rest, **sides}), result


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


def look(repository: Model, checkout: Checkout, ref: str, old: str, new: str) -> land.Refused | None:
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
    return land.Refused(
        kind="your_changes", paths=tuple(mine), what=what, why=f"{ref} is checked out.", next_step="Commit."
    )


def push(repository: Model, intent: land.Intent, held: Checkout | None, *_: object) -> str:
    """Carry the checkout, then move the branch: in this order git does it, and can die between the two."""
    repository.stage.point()
    if repository.refs.get(intent.ref) != intent.old:
        return HOOK_WAITS
    if held is not None:
        repository.carry(intent.new)
    repository.stage.point()
    moved = repository.swap(intent.ref, intent.new, intent.old)
    repository.stage.point()
    return "" if moved else HOOK_WAITS


def settle(repository: Model, *_: object) -> Settled:
    """Put the checkout where its branch is."""
    at = repository.refs["refs/heads/main"]
    restored = (repository.carried,) if repository.carried != at else ()
    repository.carry(at)
    return Settled(restored=restored, left=())


def holding(repository: Model, commit: str) -> str | None:
    return next((ref for ref, at in repository.refs.items() if contains(repository, at, commit)), None)


def listed(repository: Model, pattern: str) -> list[tuple[str, str]]:
    start = pattern.removesuffix("*")
    return [(ref, at) for ref, at in repository.refs.items() if ref.startswith(start)]


def tree_at(repository: Model, commit: str) -> str:
    return repository.commits[commit].tree


def names_in(repository: Model, tree: str) -> dict[str, str]:
    return {path: path for path in _files_at(repository, tree)}


def texts_of(repository: Model, files: Mapping[str, str]) -> dict[str, str]:
    del repository
    return dict.fromkeys(files, "")


def text_of(repository: Model, file: str) -> str:
    del repository, file
    return ""


def differing(repository: Model, before: str, after: str, *, cap: int, among: object = None) -> list[Change]:
    del cap, among
    there, here = _files_at(repository, before), _files_at(repository, after)
    return [Change(path, there.get(path), here.get(path)) for path in touched(repository, before, after)]


def file_in(repository: Model, tree: str, path: str) -> bytes | None:
    return _files_at(repository, tree).get(path)


def quiet(repository: Model) -> nullcontext[Model]:
    return nullcontext(repository)
