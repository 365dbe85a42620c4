"""Make outcome commits. Rule: the same facts make the same commit, so a repeat changes nothing."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.errors import NotLanded, UsageWrong
from asbuilt.git.command import check_branch, check_oid
from asbuilt.git.locks import set_ref
from asbuilt.git.objects import read_object
from asbuilt.git.repository import Repository, checkouts_of, tip
from asbuilt.git.user_name import unknown_user

RUN: Final = "Asbuilt-Run"
PHASE: Final = "Asbuilt-Phase"
UNDO: Final = "Asbuilt-Undo"
_SIGNING_S: Final = 60.0
"""Timeout for a signature: a locked signing agent may prompt a user who is away."""
_IDENT: Final = re.compile(rb"(?s)(.*) <([^>]*)> (\d+) ([+-]\d{4})$")
_REVERTS: Final = re.compile(
    rb"(?m)^This reverts commit ([0-9a-f]{40,64})(?:\.|, reversing\nchanges made to ([0-9a-f]{40,64})\.)$"
)
"""What `git revert` writes; behind a merge it names the parent that stays."""


class Person(Struct, frozen=True, kw_only=True):
    """Author or committer of a commit, with the time."""

    name: str
    email: str
    at: datetime

    @property
    def date(self) -> str:
        """The date as git stores it: seconds and time zone."""
        return f"@{int(self.at.timestamp())} {self.at.strftime('%z') or '+0000'}"


class Commit(Struct, frozen=True, kw_only=True):
    """A stored commit."""

    name: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: bytes

    @property
    def subject(self) -> str:
        """First line of the message."""
        return self.message.split(b"\n", 1)[0].decode("utf-8", "replace")


class Outcome(Struct, frozen=True, kw_only=True):
    """An outcome commit, found in a history by its trailers."""

    commit: str
    run: str
    phase: str
    undone: bool
    """Whether a later commit of that history reverts it."""


ASBUILT: Final = Person(name="asbuilt", email="asbuilt@localhost", at=datetime.fromtimestamp(0, UTC))
"""Author of commits that are only kept or compared."""


def people(author: Person, committer: Person) -> dict[str, str]:
    """Return git's environment variables for an author and a committer."""
    return {
        f"GIT_{role}_{name}": value
        for role, person in (("AUTHOR", author), ("COMMITTER", committer))
        for name, value in (("NAME", person.name), ("EMAIL", person.email), ("DATE", person.date))
    }


def author_of(repository: Repository) -> Person:
    """Return the user as git knows them: `git var GIT_AUTHOR_IDENT` with the user's own settings."""
    git = replace(repository.git, git_dir=repository.git_dir, as_user=True)
    result = git.run("var", "GIT_AUTHOR_IDENT", allowed=(0, 128))
    if result.code:
        raise unknown_user()
    return _person(os.fsencode(result.line))


def signs(repository: Repository) -> bool:
    """Return whether the user's git is set to sign commits, for `landing.sign = auto`."""
    git = replace(repository.git, git_dir=repository.git_dir, as_user=True)
    result = git.run("config", "--type=bool", "--get", "commit.gpgSign", allowed=(0, 1))
    return result.line == "true"


def message_for(subject: str, body: str = "", **trailers: str | Sequence[str]) -> bytes:
    """Compose a commit message; `Asbuilt_Run="x"` becomes a trailer, which no text above it can forge.

    A trailer with several values is repeated.
    """
    lines = []
    each = ((key, [content] if isinstance(content, str) else content) for key, content in trailers.items())
    for key, value in ((key, value) for key, values in each for value in values):
        if not value or any(char in value for char in "\n\r\0"):
            raise UsageWrong(
                f"{value!r} cannot be used in a commit's trailer",
                why="A trailer is one line; asbuilt finds landed phases by it.",
                next_step="`asbuilt plan check` names phases that cannot be read.",
            )
        lines.append(f"{key.replace('_', '-')}: {value}")
    first = " ".join(subject.replace("\0", "").split()) or "(no subject)"
    middle = body.replace("\0", "").strip()
    parts = [first, *([middle] if middle else []), *(["\n".join(lines)] if lines else [])]
    return ("\n\n".join(parts) + "\n").encode("utf-8", "surrogateescape")


def commit_tree(
    repository: Repository,
    tree: str,
    *,
    parents: tuple[str, ...],
    author: Person,
    message: bytes,
    sign: bool = False,
) -> str:
    """Write a commit object with one person as author and committer; no hook runs and no ref moves."""
    made = Commit(name="", tree=tree, parents=parents, author=author, committer=author, message=message)
    return rewrite(repository, made, sign=sign)


def rewrite(repository: Repository, commit: Commit, *, sign: bool) -> str:
    """Write a commit object from all its parts, including dates and people."""
    git = replace(repository.git, git_dir=repository.git_dir)
    git = replace(git, as_user=True, timeout_s=_SIGNING_S) if sign else git
    git = git.with_environment(**people(commit.author, commit.committer))
    lineage = [part for parent in commit.parents for part in ("-p", check_oid(parent))]
    return git.line(
        "commit-tree", *(["-S"] if sign else ["--no-gpg-sign"]), *lineage, "-F", "-", check_oid(commit.tree),
        stdin=commit.message,
    )  # fmt: skip


def read_commit(repository: Repository, name: str) -> Commit:
    """Read a stored commit without its signature, which is valid for no other commit."""
    raw = read_object(repository.git, check_oid(name), "commit")
    head, _, message = raw.partition(b"\n\n")
    lines = head.split(b"\n")
    facts: dict[bytes, list[bytes]] = {}
    for line in lines:
        key, _, value = line.partition(b" ")
        if key:  # continuation lines of a signature begin with a space
            facts.setdefault(key, []).append(value)
    return Commit(
        name=name,
        tree=facts[b"tree"][0].decode("ascii"),
        parents=tuple(data.decode("ascii") for data in facts.get(b"parent", [])),
        author=_person(facts[b"author"][0]),
        committer=_person(facts[b"committer"][0]),
        message=message,
    )


def advance(repository: Repository, branch: str, *, new: str, old: str | None) -> None:
    """Move a plan's branch by compare-and-swap; do nothing if it contains the commit already.

    A branch that was deleted is created again: it held only asbuilt's commits, and `new` builds on them.
    """
    ref = check_branch(branch)
    found = tip(repository, ref)
    if found is not None and contains(repository, found, new):
        return
    held = checkouts_of(repository, ref)
    if held:
        raise NotLanded(
            f"{branch} is checked out in {held[0].path}",
            why="asbuilt advances this branch phase by phase, which would pull it from under that checkout.",
            next_step=f"`git -C {shlex.quote(str(held[0].path))} switch --detach`",
        )
    old = None if found is None else old
    if not set_ref(repository, ref, new=check_oid(new), old=old, why="asbuilt: phase proven"):
        found = tip(repository, ref)
        if found == new:
            return
        raise NotLanded(
            f"{branch} was moved by another process",
            why=f"It was expected at {(old or 'nothing')[:12]} and is at {(found or 'nothing')[:12]}.",
            next_step=f"`git log {branch}`",
        )


def contains(repository: Repository, history: str, commit: str) -> bool:
    """Return whether a history contains a commit; False if the repository lacks the commit."""
    result = repository.git.run("merge-base", "--is-ancestor", commit, history, allowed=(0, 1, 128))
    return result.code == 0


def trailer(message: bytes, key: str) -> str | None:
    """Return a trailer's value; only lines of the last paragraph count."""
    last = message.rstrip(b"\n").rsplit(b"\n\n", 1)
    for line in last[1].split(b"\n") if len(last) == 2 else ():
        name, _, value = line.partition(b": ")
        if os.fsdecode(name) == key:
            return os.fsdecode(value)
    return None


def outcomes(repository: Repository, at: str, *runs: str, since: str | None = None) -> tuple[Outcome, ...]:
    """Find the commits of runs in a history by their trailers, oldest first."""
    if not runs:
        return ()
    named = [f"--grep={RUN}: {run}" for run in runs]
    span = [check_oid(at), *([f"^{check_oid(since)}"] if since else [])]
    # The patterns only limit which commits are read; the trailers decide which ones count.
    result = repository.git.run(
        "log", "-z", "--topo-order", "--reverse", "--fixed-strings", *named,
        "--grep=This reverts commit ", "--format=tformat:%H%n%B", *span, "--",
    )  # fmt: skip
    found: dict[str, Outcome] = {}
    reverts: dict[str, tuple[list[str], bool]] = {}
    for record in result.fields:
        name, _, message = record.partition(b"\n")
        commit = name.decode("ascii")
        for pair in _REVERTS.findall(message):
            reverted, stays = (part.decode("ascii") for part in pair)
            # The revert of a revert brings its commits back.
            known, was = reverts.get(reverted, ([reverted] if reverted in found else [], False))
            if stays:
                known = [name for name in found if _brought(repository, name, reverted, stays)]
            found |= {name: replace(found[name], undone=not was) for name in known}
            reverts[commit] = known, not was
        if (run := trailer(message, RUN)) in runs:
            found[commit] = Outcome(commit=commit, run=run, phase=trailer(message, PHASE) or "", undone=False)
    return tuple(found.values())


def merge_of(repository: Repository, commit: str, at: str) -> str:
    """Return the merge that brought a commit to a history; empty if the commit was made or picked there."""
    span = f"{check_oid(commit)}..{check_oid(at)}"
    merges = repository.git.line("rev-list", "--merges", "--ancestry-path", "--reverse", span).split()
    parents = read_commit(repository, merges[0]).parents if merges else ()
    return merges[0] if parents and _brought(repository, commit, merges[0], parents[0]) else ""


def landed_on(repository: Repository, at: str, sources: Sequence[Commit]) -> dict[str, str]:
    """Return where a history has proven commits that it did not revert: by their trailers, in any copy."""
    runs = {run for source in sources if (run := trailer(source.message, RUN)) is not None}
    there: dict[tuple[str | None, str | None], str] = {
        (outcome.run, outcome.phase): outcome.commit
        for outcome in outcomes(repository, at, *sorted(runs), since=_start_of(repository, sources))
        if not outcome.undone
    }
    keys = {source.name: (trailer(source.message, RUN), trailer(source.message, PHASE)) for source in sources}
    return {name: there[key] for name, key in keys.items() if key in there}


def _start_of(repository: Repository, sources: Sequence[Commit]) -> str | None:
    """Return the commit on which all of some commits build; None if there is none."""
    starts = sorted({source.parents[0] for source in sources} - {source.name for source in sources})
    if len(starts) < 2:
        return next(iter(starts), None)
    return repository.git.run("merge-base", "--octopus", *starts, allowed=(0, 1)).line or None


def _brought(repository: Repository, commit: str, merge: str, stays: str) -> bool:
    """Return whether a merge brought a commit to the parent that a revert of the merge keeps."""
    return contains(repository, merge, commit) and not contains(repository, stays, commit)


def _person(ident: bytes) -> Person:
    match = _IDENT.match(ident)
    if match is None:
        return Person(name=os.fsdecode(ident), email="", at=datetime.fromtimestamp(0, UTC))
    name, email, seconds, zone = match.groups()
    shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5])) * (-1 if zone.startswith(b"-") else 1)
    at = datetime.fromtimestamp(int(seconds), timezone(shift))
    return Person(name=os.fsdecode(name), email=os.fsdecode(email), at=at)


def uncommitted(repository: Repository, paths: Sequence[str]) -> tuple[str, ...]:
    """Return those of some files that differ from the last commit. Ignored files are left out."""
    git = replace(repository.git, git_dir=repository.git_dir, work_tree=repository.root)
    named = b"".join(path.encode() + b"\0" for path in paths)
    ignored = git.run("check-ignore", "-z", "--stdin", stdin=named, allowed=(0, 1)).fields
    wanted = [path for path in paths if path.encode() not in ignored]
    if not wanted:
        return ()
    changed = git.run("status", "--porcelain=v1", "-z", "--no-renames", "-uall", "--", *wanted).fields
    return tuple(path for path in wanted if any(field[3:] == path.encode() for field in changed))


def commit_files(repository: Repository, paths: Sequence[str], *, subject: str) -> str:
    """Commit files as they are on disk, and return the commit.

    Other changes stay as they are, staged ones too. No hook runs. The author is the user, and the user's
    settings decide whether the commit is signed.
    """
    git = replace(repository.git, git_dir=repository.git_dir, work_tree=repository.root, as_user=True)
    git.run("add", "--", *paths)
    git.run("commit", "-q", "--no-verify", "--only", "-F", "-", "--", *paths, stdin=message_for(subject))
    return git.line("rev-parse", "HEAD")
