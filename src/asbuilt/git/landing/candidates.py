"""Build what is to land. The one rule: it is built from trees alone, so that no checkout is ever involved.

A pick is a three-way merge of whole trees. `git merge-tree` takes commits and finds their base itself (naming
one came with git 2.40), so it is given three bare commits that say just this: base, ours, theirs.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from asbuilt.errors import GitFailed
from asbuilt.git.command import check_oid, check_ref_name
from asbuilt.git.commits import (
    PHASE,
    RUN,
    UNDO,
    Commit,
    Person,
    message_for,
    outcomes,
    read_commit,
    rewrite,
    trailer,
)
from asbuilt.git.files import entries
from asbuilt.git.locks import drop_ref, set_ref
from asbuilt.git.private import quiet
from asbuilt.git.repository import tip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from asbuilt.git.command import Git, Said
    from asbuilt.git.repository import Repository

CANDIDATES: Final = "refs/asbuilt/candidates/"
_NONE: Final[Mapping[tuple[str, str], str]] = MappingProxyType({})
_NOBODY: Final = Person(name="asbuilt", email="asbuilt@localhost", at=datetime.fromtimestamp(0, UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Commits on top of a target's tip, not landed yet."""

    onto: str
    tip: str
    commits: tuple[tuple[str, str], ...]
    """(the proven commit, the commit that stands for it here), in order."""
    present: tuple[tuple[str, str], ...] = ()
    """(the proven commit, the commit of the target that already stands for it)."""
    since: str | None = None
    """If nothing is left to be landed: the commit with which the target had it all."""

    @property
    def top(self) -> str:
        """The last commit that stands for another one; the tip is above it when files were added."""
        return self.commits[-1][1] if self.commits else self.onto


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """New contents of files that land with a candidate, such as a plan's marks."""

    files: Mapping[str, bytes]
    message: bytes
    by: Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A commit that does not go onto the target; nothing was changed."""

    commit: str
    paths: tuple[str, ...]
    onto: str = ""
    """What it does not go onto: the target, with the commits before it."""


def pick(
    repository: Repository,
    *,
    onto: str,
    commits: Sequence[str],
    run: str,
    sign: bool = False,
    resolved: Mapping[tuple[str, str], str] = _NONE,
) -> Candidate | Conflict:
    """Put commits onto a tip, each keeping its people, dates and message.

    `resolved` has the tree of a commit on what it conflicts with, where somebody has resolved that.

    A commit that the target already has, by its trailers, is not put there again. Where nothing changes, the
    commit stays the very same one, hash included.
    """
    sources = [_single(repository, name) for name in commits]
    landed = _landed(repository, onto, sources)
    here = check_oid(onto)
    made: list[tuple[str, str]] = []
    present: list[tuple[str, str]] = []
    with quiet(repository) as git:
        for source in sources:
            name = source.name
            stands = landed.get((trailer(source.message, RUN), trailer(source.message, PHASE)))
            if stands is not None:
                present.append((name, stands))
                continue
            tree = _merged(git, base=source.parents[0], ours=here, theirs=name)
            if isinstance(tree, tuple):
                by_hand = resolved.get((name, here))
                if by_hand is None:
                    return Conflict(commit=name, paths=tree, onto=here)
                tree = by_hand
            here = _written(repository, replace(source, tree=tree, parents=(here,)), run=run, sign=sign)
            made.append((name, here))
    since = _since(repository, onto, present[-1][1], run) if present and not made else None
    return Candidate(onto=onto, tip=here, commits=tuple(made), present=tuple(present), since=since)


def conflicted(repository: Repository, conflict: Conflict, *, by: Person) -> str:
    """Give a commit on top of what a commit does not go onto, whose files hold both sides between marks."""
    source = _single(repository, conflict.commit)
    with quiet(repository) as git:
        said = _merge(git, base=source.parents[0], ours=conflict.onto, theirs=conflict.commit)
    tree = said.fields[0].decode("ascii")
    both = Commit(
        name="", tree=tree, parents=(conflict.onto,), author=by, committer=by, message=source.message
    )
    return rewrite(repository, both, sign=False)


def revert(
    repository: Repository, *, onto: str, commits: Sequence[str], run: str, by: Person, sign: bool = False
) -> Candidate | Conflict:
    """Take landed commits back, the last one first, one commit each."""
    here = check_oid(onto)
    made: list[tuple[str, str]] = []
    with quiet(repository) as git:
        for name in reversed(commits):
            source = _single(repository, name)
            tree = _merged(git, base=name, ours=here, theirs=source.parents[0])
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
    """Put new contents of files on top as the last commit; a no-op if nothing differs."""
    files = edit.files
    with quiet(repository) as git:
        modes = {path: mode for path, (mode, _) in entries(git, candidate.tip).items()}
        git.said("read-tree", candidate.tip)
        lines = []
        for path, data in files.items():
            blob = git.line("hash-object", "-w", "--no-filters", "--stdin", stdin=data)
            mode = modes.get(os.fsencode(path), b"100644")
            lines.append(mode + b" " + blob.encode("ascii") + b"\t" + os.fsencode(path) + b"\0")
        git.said("update-index", "--add", "-z", "--index-info", stdin=b"".join(lines))
        tree = git.line("write-tree")
    if tree == read_commit(repository, candidate.tip).tree:
        return candidate
    last = Commit(
        name="", tree=tree, parents=(candidate.tip,), author=edit.by, committer=edit.by, message=edit.message
    )
    return replace(candidate, tip=_written(repository, last, run=run, sign=sign), since=None)


def hold(repository: Repository, run: str, candidate: Candidate) -> str:
    """Put a candidate under its ref, so that it can be proven, found and landed; returns the ref."""
    ref = check_ref_name(CANDIDATES + run)
    while (before := tip(repository, ref)) != candidate.tip:
        set_ref(repository, ref, new=candidate.tip, old=before)
    return ref


def held(repository: Repository, run: str) -> str | None:
    """Return the tip of a run's candidate, or None."""
    return tip(repository, CANDIDATES + run)


def let_go(repository: Repository, run: str) -> None:
    """Take a candidate's ref away, once it has landed or was given up."""
    ref = check_ref_name(CANDIDATES + run)
    before = tip(repository, ref)
    if before is not None:
        drop_ref(repository, ref, old=before)


def _landed(
    repository: Repository, onto: str, sources: Sequence[Commit]
) -> dict[tuple[str | None, str | None], str]:
    """Find what of the sources' runs a target has and nobody has taken back, by run and phase."""
    since = sources[0].parents[0] if sources else None
    runs = {run for source in sources if (run := trailer(source.message, RUN)) is not None}
    return {
        (one.run, one.phase): one.commit
        for run in sorted(runs)
        for one in outcomes(repository, onto, run, since=since)
        if not one.undone
    }


def _since(repository: Repository, onto: str, last: str, run: str) -> str:
    """Find where a landing of a run ended whose last commit is `last`: there, or at its files right above."""
    above = (one.commit for one in outcomes(repository, onto, run, since=last) if not one.phase)
    return next((one for one in above if read_commit(repository, one).parents == (last,)), last)


def _merged(git: Git, *, base: str, ours: str, theirs: str) -> str | tuple[str, ...]:
    """Return the tree of a merge, or the paths that conflict."""
    said = _merge(git, base=base, ours=ours, theirs=theirs)
    tree, *paths = said.fields
    if said.code:
        return tuple(os.fsdecode(path) for path in paths if path)
    return tree.decode("ascii")


def _merge(git: Git, *, base: str, ours: str, theirs: str) -> Said:
    root = _bare(git, base)
    return git.said(
        "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
        _bare(git, ours, root), _bare(git, theirs, root), allowed=(0, 1),
    )  # fmt: skip


def _bare(git: Git, commit: str, *parents: str) -> str:
    """Make a commit of another one's tree and no history but `parents`."""
    tree = git.line("rev-parse", "--verify", f"{check_oid(commit)}^{{tree}}")
    named = git.with_environment(
        GIT_AUTHOR_NAME=_NOBODY.name,
        GIT_AUTHOR_EMAIL=_NOBODY.email,
        GIT_AUTHOR_DATE=_NOBODY.date,
        GIT_COMMITTER_NAME=_NOBODY.name,
        GIT_COMMITTER_EMAIL=_NOBODY.email,
        GIT_COMMITTER_DATE=_NOBODY.date,
    )
    lineage = [part for parent in parents for part in ("-p", parent)]
    return named.line("commit-tree", *lineage, "-F", "-", tree, stdin=b"asbuilt: a side of a merge\n")


def _written(repository: Repository, commit: Commit, *, run: str, sign: bool) -> str:
    """Write a commit, or find it in the candidate that is held: a signature differs each time it is made."""
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
        next_step="Land this branch with git itself, or take the commit off it.",
    )
