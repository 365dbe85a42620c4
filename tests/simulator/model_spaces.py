"""The workspaces of the model's repository, and what is kept of them.

The one rule: nobody touches a workspace while an agent works in it, and no file in it is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from asbuilt.errors import NotLanded, TreeTooLarge
from asbuilt.git.commits import Commit, Person
from asbuilt.git.workspace import snapshots
from asbuilt.git.workspace.workspaces import Leftover
from asbuilt.ports import Kept, Workspace
from tests.simulator.model_git import Space, contains, rewrite, set_ref
from tests.simulator.stage import Unlawful

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from tests.simulator.model_git import Model

LARGE: Final = b"large"


def make(
    repository: Model, root: Path, run: str, lane: str, commit: str, *, files_of: str | None = None
) -> Workspace:
    path = root / run / lane
    repository.stage.point()
    space = repository.spaces.setdefault(path, Space(run, lane))
    if not space.is_ready:
        # The entry has its HEAD from the start: a kill leaves no workspace without a commit.
        space.head = space.head or commit
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


def head_of(repository: Model, workspace: Workspace) -> str:
    return repository.spaces[workspace.path].head


def is_at(repository: Model, path: Path, tree: str) -> bool:
    return repository.tree(repository.spaces[path].files) == tree


def reset_to(repository: Model, workspace: Workspace, commit: str, *, kept: Kept) -> None:
    repository.stage.point()
    space = repository.spaces[workspace.path]
    _alone(repository, workspace)
    there = repository.commits[commit].tree
    is_untouched = space.files == repository.files(space.head)
    if repository.tree(space.files) not in (there, kept.tree) and not is_untouched:
        raise NotLanded("the workspace has files that are not kept", why="Nobody has.", next_step="Keep.")
    if kept.ref not in repository.refs or not contains(repository, repository.refs[kept.ref], kept.commit):
        raise NotLanded(f"the snapshot {kept.ref} is gone", why="Files would be lost.", next_step="Keep.")
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
        raise NotLanded("the workspace has files that are not kept", why="Nobody has.", next_step="Keep.")
    if not any(contains(repository, at, space.head) for at in repository.refs.values()):
        raise NotLanded("it holds a commit that no branch has", why="It would be lost.", next_step="Keep.")
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


def _alone(repository: Model, workspace: Workspace) -> None:
    if repository.is_busy(workspace.path):
        raise Unlawful(f"{workspace.path} is touched while an agent works in it")
