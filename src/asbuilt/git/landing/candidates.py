"""Build the commits that are to land. Rule: they are built from trees only; no checkout is involved.

A pick is a three-way merge of whole trees. `git merge-tree` takes commits and finds their base itself (naming
the base needs git 2.40), so it gets three commits made for the purpose: base, ours and theirs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.errors import GitFailed
from asbuilt.git.command import Git, check_oid, check_ref_name
from asbuilt.git.commits import (
    ASBUILT,
    UNDO,
    Commit,
    Person,
    commit_tree,
    landed_on,
    message_for,
    outcomes,
    people,
    read_commit,
    rewrite,
)
from asbuilt.git.files import entries
from asbuilt.git.locks import drop_ref, set_ref
from asbuilt.git.objects import tree_of
from asbuilt.git.repository import Repository, tip
from asbuilt.git.temporary_git_folder import quiet

CANDIDATES: Final = "refs/asbuilt/candidates/"
_NONE: Final[Mapping[tuple[str, str], str]] = MappingProxyType({})


class Candidate(Struct, frozen=True, kw_only=True):
    """Commits on top of a target's tip that have not landed yet."""

    onto: str
    tip: str
    commits: tuple[tuple[str, str], ...]
    """(proven commit, its copy in this candidate), in order."""
    present: tuple[tuple[str, str], ...] = ()
    """(proven commit, its copy that the target already has)."""
    since: str | None = None
    """If nothing is left to land: the commit of the target that completed the landing."""

    @property
    def top(self) -> str:
        """The last picked commit; the tip is above it if files were added."""
        return self.commits[-1][1] if self.commits else self.onto


class Edit(Struct, frozen=True, kw_only=True):
    """New contents of files that land with a candidate, such as a plan's marks."""

    files: Mapping[str, bytes]
    message: bytes
    by: Person


class Conflict(Struct, frozen=True, kw_only=True):
    """A commit that does not apply to the target; nothing was changed."""

    commit: str
    paths: tuple[str, ...]
    onto: str = ""
    """The commit it does not apply to: the target plus the commits picked before it."""


def pick(  # noqa: PLR0913 - the ways to apply a commit
    repository: Repository,
    *,
    onto: str,
    commits: Sequence[str],
    run: str,
    sign: bool = False,
    resolved: Mapping[tuple[str, str], str] = _NONE,
    skips_empty: bool = False,
) -> Candidate | Conflict:
    """Apply commits to a tip; each keeps its people, dates and message.

    `resolved` maps (commit, the commit it conflicts with) to the tree of a resolved conflict.

    A commit that the target already has, by its trailers, is not applied again; with `skips_empty`, nor is
    one whose changes the target has. If nothing changes, the commit keeps its hash.
    """
    sources = [_single(repository, name) for name in commits]
    landed = landed_on(repository, onto, sources)
    here = check_oid(onto)
    made: list[tuple[str, str]] = []
    present: list[tuple[str, str]] = []
    with quiet(repository) as git:
        for source in sources:
            name = source.name
            if name in landed:
                present.append((name, landed[name]))
                continue
            tree = _merged(repository, git, base=source.parents[0], ours=here, theirs=name)
            if isinstance(tree, tuple):
                by_hand = resolved.get((name, here))
                if by_hand is None:
                    return Conflict(commit=name, paths=tree, onto=here)
                tree = by_hand
            before = tree_of(repository.git, here)
            if skips_empty and tree == before and source.tree != tree_of(repository.git, source.parents[0]):
                present.append((name, here))
                continue
            here = _written(repository, replace(source, tree=tree, parents=(here,)), run=run, sign=sign)
            made.append((name, here))
    since = _since(repository, onto, present[-1][1], run) if present and not made else None
    return Candidate(onto=onto, tip=here, commits=tuple(made), present=tuple(present), since=since)


def conflicted(repository: Repository, conflict: Conflict, *, by: Person) -> str:
    """Write a commit on top of `conflict.onto` whose files contain both sides between conflict markers."""
    source = _single(repository, conflict.commit)
    with quiet(repository) as git:
        tree, _ = _merge(git, base=source.parents[0], ours=conflict.onto, theirs=conflict.commit)
    return commit_tree(repository, tree, parents=(conflict.onto,), author=by, message=source.message)


def merge_trees(repository: Repository, *, base: str, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Merge the trees of two commits; return the tree and the paths that conflict.

    Files that conflict contain both sides between conflict markers.
    """
    with quiet(repository) as git:
        tree, paths = _merge(git, base=base, ours=ours, theirs=theirs)
    return tree, paths or ()


def revert(
    repository: Repository, *, onto: str, commits: Sequence[str], run: str, by: Person, sign: bool = False
) -> Candidate | Conflict:
    """Revert landed commits, the last one first, with one commit each."""
    here = check_oid(onto)
    made: list[tuple[str, str]] = []
    with quiet(repository) as git:
        for name in reversed(commits):
            source = _single(repository, name)
            tree = _merged(repository, git, base=name, ours=here, theirs=source.parents[0])
            if isinstance(tree, tuple):
                return Conflict(commit=name, paths=tree)
            message = message_for(
                f'Revert "{source.subject}"', f"This reverts commit {name}.", **{UNDO.replace("-", "_"): run}
            )
            undoing = Commit(name="", tree=tree, parents=(here,), author=by, committer=by, message=message)
            here = _written(repository, undoing, run=run, sign=sign)
            made.append((name, here))
    return Candidate(onto=onto, tip=here, commits=tuple(made))


def add_files(
    repository: Repository, candidate: Candidate, edit: Edit, *, run: str, sign: bool = False
) -> Candidate:
    """Add new contents of files as the last commit; return the candidate unchanged if nothing differs."""
    files = edit.files
    with quiet(repository) as git:
        modes = {path: mode for path, (mode, _) in entries(repository.git, candidate.tip).items()}
        git.run("read-tree", candidate.tip)
        lines = []
        for path, data in files.items():
            blob = git.line("hash-object", "-w", "--no-filters", "--stdin", stdin=data)
            mode = modes.get(os.fsencode(path), b"100644")
            lines.append(mode + b" " + blob.encode("ascii") + b"\t" + os.fsencode(path) + b"\0")
        git.run("update-index", "--add", "-z", "--index-info", stdin=b"".join(lines))
        tree = git.line("write-tree")
    if tree == tree_of(repository.git, candidate.tip):
        return candidate
    last = Commit(
        name="", tree=tree, parents=(candidate.tip,), author=edit.by, committer=edit.by, message=edit.message
    )
    return replace(candidate, tip=_written(repository, last, run=run, sign=sign), since=None)


def hold(repository: Repository, run: str, candidate: Candidate) -> str:
    """Set a candidate's ref, so that it can be proven, found and landed; return the ref."""
    ref = check_ref_name(CANDIDATES + run)
    while (before := tip(repository, ref)) != candidate.tip:
        set_ref(repository, ref, new=candidate.tip, old=before)
    return ref


def held(repository: Repository, run: str) -> str | None:
    """Return the tip of a run's candidate, or None."""
    return tip(repository, CANDIDATES + run)


def let_go(repository: Repository, run: str) -> None:
    """Delete the ref of a candidate that has landed or was given up."""
    ref = check_ref_name(CANDIDATES + run)
    before = tip(repository, ref)
    if before is not None:
        drop_ref(repository, ref, old=before)


def _since(repository: Repository, onto: str, last: str, run: str) -> str:
    """Return where a run's landing ended: at its commit of files directly above `last`, else at `last`."""
    above = (outcome.commit for outcome in outcomes(repository, onto, run, since=last) if not outcome.phase)
    return next((commit for commit in above if read_commit(repository, commit).parents == (last,)), last)


def _merged(repository: Repository, git: Git, *, base: str, ours: str, theirs: str) -> str | tuple[str, ...]:
    """Return the tree of a merge, or the paths that conflict; no git starts if only one side has changes."""
    before, here, there = (tree_of(repository.git, commit) for commit in (base, ours, theirs))
    if before in (here, there) or here == there:
        return there if before == here else here
    tree, conflicts = _merge(git, base=base, ours=ours, theirs=theirs)
    return tree if conflicts is None else conflicts


def _merge(git: Git, *, base: str, ours: str, theirs: str) -> tuple[str, tuple[str, ...] | None]:
    """Return the tree of a merge and the paths that conflict; None if it has no conflict."""
    root = _bare(git, base)
    result = git.run(
        "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
        _bare(git, ours, root), _bare(git, theirs, root), allowed=(0, 1),
    )  # fmt: skip
    tree, *paths = result.fields
    return tree.decode("ascii"), tuple(os.fsdecode(path) for path in paths if path) if result.code else None


def _bare(git: Git, commit: str, *parents: str) -> str:
    """Write a commit with the tree of `commit` and no history except `parents`."""
    named = git.with_environment(**people(ASBUILT, ASBUILT))
    given = [part for parent in parents for part in ("-p", parent)]
    tree = f"{check_oid(commit)}^{{tree}}"
    return named.line("commit-tree", *given, "-F", "-", tree, stdin=b"asbuilt: a side of a merge\n")


def _written(repository: Repository, commit: Commit, *, run: str, sign: bool) -> str:
    """Write a commit, or reuse an equal one of the run's candidate: each new signature changes the hash."""
    if commit.name and not sign and read_commit(repository, commit.name) == commit:
        return commit.name
    ready = held(repository, run) if sign else None
    if ready is not None:
        for name in repository.git.line("rev-list", "--max-count=64", ready).split():
            if replace(read_commit(repository, name), name=commit.name) == commit:
                return name
    return rewrite(repository, commit, sign=sign)


def _single(repository: Repository, name: str) -> Commit:
    commit = read_commit(repository, name)
    if len(commit.parents) == 1:
        return commit
    raise GitFailed(
        f"commit {name[:12]} has no single parent",
        why="asbuilt's outcome commits have one parent each; a merge or a first commit cannot be picked.",
        next_step=f"`git log --graph --oneline {name[:12]}`",
    )
