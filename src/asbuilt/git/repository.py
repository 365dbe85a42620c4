"""Open a repository and read its folders, settings, refs and checkouts. Rule: nothing here writes."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.errors import GateStopped, GitFailed, NotFound
from asbuilt.git.command import Git, check_ref_name
from asbuilt.git.configured_programs import NO_PROGRAMS, Programs, programs_of
from asbuilt.git.first_use import first_commit, is_foreign
from asbuilt.git.objects import entries_of, tree_of
from asbuilt.git.ref_files import LeftToGit, read_head, read_ref
from asbuilt.git.user_name import committing, is_named

PathState = Literal["clean", "dirty", "untracked", "ignored", "missing"]

_OPERATIONS: Final = {
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "MERGE_HEAD": "merge",
    "REBASE_HEAD": "rebase",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "sequencer": "cherry-pick",
    "BISECT_START": "bisect",
}
_BRANCH: Final = "refs/heads/"
_OWN: Final = ("local", "worktree")
_USERS: Final = ("system", "global")
_FALSE: Final = ("false", "no", "off", "0")
_SETTINGS_S: Final = 30.0


class Repository(Struct, frozen=True, kw_only=True):
    """A repository as seen from one of its checkouts."""

    root: Path
    """The checkout it was opened from; the git folder of a bare repository."""
    git_dir: Path
    """That checkout's own git folder."""
    common: Path
    """The git folder that all checkouts share."""
    object_format: str = "sha1"
    ref_format: str = "files"
    file_mode: bool = True
    excludes: Path | None = None
    """The user's own ignore file, which applies to all of the user's repositories."""
    programs: Programs = NO_PROGRAMS
    """Programs that its own settings name; those without the user's consent are turned off."""

    @property
    def git(self) -> Git:
        """The shared folder, with no checkout: refs, objects and history."""
        return Git(git_dir=self.common, settings=self.programs.off)

    @property
    def nothing(self) -> str:
        """The all-zero object name, which git uses for "does not exist"."""
        return "0" * (40 if self.object_format == "sha1" else 64)


class Checkout(Struct, frozen=True, kw_only=True):
    """A folder in which a branch or commit of the repository is checked out."""

    path: Path
    git_dir: Path
    branch: str | None
    """Full ref name; also during a rebase or bisect, when git reports a detached HEAD."""
    commit: str | None
    settings: tuple[tuple[str, str], ...] = ()
    """Settings that override the repository's own."""

    @property
    def git(self) -> Git:
        """Git in this checkout, with the user's own settings."""
        return Git(
            git_dir=self.git_dir,
            work_tree=self.path,
            index=self.git_dir / "index",
            as_user=True,
            settings=self.settings,
        )


def open_repository(start: Path, *, agreed: Iterable[str] = ()) -> Repository:
    """Find the repository that contains a folder by reading its files, without git's own discovery.

    `agreed` are digests of programs in repositories' own settings that git may start.
    """
    here = start.resolve()
    for folder in (here, *here.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return _opened(folder, marker, agreed)
        if marker.is_file():
            return _opened(folder, _linked(marker), agreed)
    if (here / "HEAD").is_file() and (here / "objects").is_dir() and (here / "refs").is_dir():
        return _opened(here, here, agreed)
    make = first_commit(here, is_repository=False)
    raise NotFound(
        f"{start} is not in a git repository",
        why="Plans are run in workspaces that git makes, and land as commits.",
        next_step=_making(make, here) if make else "`cd your-repo` goes to one.",
    )


def _making(command: str, folder: Path) -> str:
    # The first commit needs a name, which is the next step then.
    makes = command if is_named(folder) else "git init"
    return f"`{makes}` makes one of this folder."


def resolve(repository: Repository, name: str) -> str | None:
    """Return the commit that a ref or commit-ish names, or None."""
    result = repository.git.run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", allowed=(0, 1, 128)
    )
    return result.line if result.code == 0 else None


def tip(repository: Repository, ref: str) -> str | None:
    """Return the commit at the tip of a full ref name, or None."""
    with suppress(LeftToGit):
        return read_ref(repository.common, check_ref_name(ref), repository.ref_format)
    result = repository.git.run(
        "show-ref", "--verify", "--hash", "--", check_ref_name(ref), allowed=(0, 1, 128)
    )
    return result.line if result.code == 0 else None


def head_at(repository: Repository, git_dir: Path) -> str | None:
    """Return the HEAD commit of a checkout by its git folder, or None if its branch has no commit."""
    with suppress(LeftToGit):
        head = read_head(git_dir, repository.ref_format)
        return tip(repository, head) if head.startswith("refs/") else head
    result = Git(git_dir=git_dir).run("rev-parse", "--verify", "--quiet", "HEAD", allowed=(0, 1, 128))
    return result.line if result.code == 0 else None


def plan_branch(repository: Repository, slug: str) -> str:
    """Return the name of a plan's branch, which holds proven work that is pending to land.

    An existing branch is used whatever its spelling; Git allows no `asbuilt/x` beside a branch `asbuilt`.
    """
    names = f"asbuilt/{slug}", f"asbuilt-{slug}", f"cp-{slug}"
    there = next((name for name in names if tip(repository, f"{_BRANCH}{name}")), None)
    return there or (names[1] if tip(repository, f"{_BRANCH}asbuilt") else names[0])


def base_on(repository: Repository, branch: str) -> str:
    """Return the tip of a branch, from which agents start; raise `GateStopped` if it has no commit."""
    found = tip(repository, f"refs/heads/{branch}")
    if found is None:
        raise GateStopped(
            f"there is no commit on {branch}",
            why="Agents work in a checkout of what is committed.",
            next_step=committing(first_commit(repository.root), repository.common),
        )
    return found


def left_out(repository: Repository, base: str) -> tuple[str, ...]:
    """Return the files of the checkout if the base has no file at all: no agent sees them."""
    if entries_of(repository.git, tree_of(repository.git, base)):
        return ()
    git = replace(repository.git, git_dir=repository.git_dir, work_tree=repository.root)
    found = git.run("ls-files", "-z", "--others", "--cached", "--exclude-standard").fields
    return tuple(os.fsdecode(path) for path in found)


def current_branch(repository: Repository) -> str | None:
    """Return the full ref name that is checked out at the root, or None for a detached HEAD."""
    result = replace(repository.git, git_dir=repository.git_dir).run(
        "symbolic-ref", "--quiet", "HEAD", allowed=(0, 1)
    )
    return result.line if result.code == 0 else None


def checkouts(repository: Repository) -> tuple[Checkout, ...]:
    """List every checkout whose folder exists, the main one first."""
    own = {path: folder for folder, path in registered(repository)}
    found = []
    listed = repository.git.run("worktree", "list", "--porcelain", "-z").out.split(b"\0\0")
    for place, record in enumerate(listed):
        facts = dict(line.partition(" ")[::2] for line in os.fsdecode(record).split("\0") if line)
        path = Path(facts.get("worktree", ""))
        folder = own.get(path) or (repository.common if place == 0 else None)
        if "worktree" not in facts or "bare" in facts or folder is None or not path.is_dir():
            continue
        branch = facts.get("branch") or _branch_in_operation(folder)
        commit, settings = facts.get("HEAD"), repository.programs.off
        found.append(Checkout(path=path, git_dir=folder, branch=branch, commit=commit, settings=settings))
    return tuple(found)


def checkouts_of(repository: Repository, ref: str) -> tuple[Checkout, ...]:
    """List the checkouts that have a branch checked out.

    No git starts if none is on it by its HEAD, or by an operation that began there.
    """
    with suppress(LeftToGit):
        folders = [repository.common, *(folder for folder, _ in registered(repository))]
        heads = {read_head(folder, repository.ref_format) for folder in folders}
        if ref not in heads | {_branch_in_operation(folder) for folder in folders}:
            return ()
    return tuple(checkout for checkout in checkouts(repository) if checkout.branch == ref)


def registered(repository: Repository) -> tuple[tuple[Path, Path], ...]:
    """List the linked worktrees in git's registry: (git folder, path)."""
    registry = repository.common / "worktrees"
    found = []
    for folder in sorted(registry.iterdir()) if registry.is_dir() else ():
        link = _content(folder / "gitdir")
        if link:
            found.append((folder, Path(os.path.normpath(folder / link)).parent))
    return tuple(found)


def operations(git_dir: Path) -> tuple[str, ...]:
    """Return the names of the git operations in progress in a checkout, such as `rebase`."""
    return tuple(sorted({word for name, word in _OPERATIONS.items() if (git_dir / name).exists()}))


def conflicts(checkout: Checkout) -> tuple[str, ...]:
    """List the files of a checkout that have unresolved conflicts."""
    fields = checkout.git.run("ls-files", "-z", "--unmerged").fields
    return tuple(sorted({os.fsdecode(field.split(b"\t", 1)[1]) for field in fields}))


def leftover_stashes(repository: Repository) -> tuple[str, ...]:
    """List the stashes that another tool's landing left behind ("pre-cherry-pick" in their message)."""
    result = repository.git.run(
        "reflog", "show", "-z", "--format=%gd: %gs", "refs/stash", "--", allowed=(0, 128)
    )
    return tuple(text for field in result.fields if "pre-cherry-pick" in (text := os.fsdecode(field)))


def path_state(checkout: Checkout, path: str) -> PathState:
    """Return git's status of one file in a checkout."""
    literal = checkout.git.with_environment(GIT_LITERAL_PATHSPECS="1")
    options = ("--porcelain=v1", "-z", "--ignored=matching", "--untracked-files=all", "--no-renames")
    fields = literal.run("status", *options, "--", path).fields
    if fields:
        marks: dict[bytes, PathState] = {b"??": "untracked", b"!!": "ignored"}
        return marks.get(fields[0][:2], "dirty")
    tracked = literal.run("ls-files", "-z", "--", path).fields
    return "clean" if tracked else "missing"


def _opened(root: Path, git_dir: Path, agreed: Iterable[str]) -> Repository:
    shared = _content(git_dir / "commondir")
    common = (git_dir / shared).resolve() if shared else git_dir
    refuse_foreign(root, common)
    settings = _settings(common)
    values = {(scope, key): value for scope, key, value in settings}
    last = {key: value for _, key, value in settings}
    own = [(key, value) for scope, key, value in settings if scope in _OWN]
    users = [(key, value) for scope, key, value in settings if scope in _USERS]
    return Repository(
        root=root,
        git_dir=git_dir,
        common=common,
        object_format=values.get(("local", "extensions.objectformat")) or "sha1",
        ref_format=values.get(("local", "extensions.refstorage")) or "files",
        file_mode=(values.get(("local", "core.filemode")) or "true").lower() not in _FALSE,
        excludes=_users_excludes(last.get("core.excludesfile", "")),
        programs=programs_of(root, common, own, users).unless(agreed),
    )


_Settings = list[tuple[str, str, str]]
_read_before: Final[dict[Path, tuple[object, float, _Settings]]] = {}


def _settings(common: Path) -> _Settings:
    """Return all git settings: (scope, key, value).

    They are read again when one of their files has changed, and after 30 s, since the system's file may be
    anywhere. Settings that include other files are read each time.
    """
    stamps = _stamps(common)
    before = _read_before.get(common)
    if before is not None and before[0] == stamps and time.monotonic() - before[1] < _SETTINGS_S:
        return before[2]
    fields = Git(git_dir=common, as_user=True).run("config", "-z", "--show-scope", "--list").fields
    found = []
    for scope, setting in zip(fields[::2], fields[1::2], strict=True):
        name, _, value = os.fsdecode(setting).partition("\n")
        found.append((os.fsdecode(scope), name, value))
    if any(key.startswith(("include.", "includeif.")) for _, key, _ in found):
        _read_before.pop(common, None)
    else:
        _read_before[common] = (stamps, time.monotonic(), found)
    return found


def _stamps(common: Path) -> list[object]:
    home, folder = os.environ.get("HOME", ""), os.environ.get("XDG_CONFIG_HOME", "")
    users = Path(home, ".gitconfig"), Path(folder or Path(home, ".config"), "git", "config")
    found: list[object] = [home, folder]
    for file in (common / "config", common / "config.worktree", *users, Path("/etc/gitconfig")):
        try:
            status = file.stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return found


def refuse_foreign(root: Path, common: Path) -> None:
    """Raise `GitFailed` for a repository that another user owns, unless `safe.directory` names it.

    Git checks the owner only when it discovers a repository. asbuilt always passes `GIT_DIR`, so it checks
    here.
    """
    if not is_foreign(root, common):
        return
    result = Git(git_dir=common, as_user=True).run(
        "config", "--global", "--type=path", "-z", "--get-all", "safe.directory", allowed=(0, 1)
    )
    for name in map(os.fsdecode, result.fields):
        if name in {"*", str(root), str(common)} or (name.endswith("/*") and str(root).startswith(name[:-1])):
            return
    raise GitFailed(
        f"{root} belongs to another user",
        why="Its settings could start programs in your name, so git and asbuilt refuse it. "
        "The command tells git that you trust it.",
        next_step=f"`git config --global --add safe.directory {shlex.quote(str(root))}`",
    )


def _users_excludes(configured: str) -> Path | None:
    settings = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("HOME", "") + "/.config"
    # `~name` of an unknown user is not expanded, and the result is then not an absolute path.
    path = Path(os.path.expanduser(configured)) if configured else Path(settings, "git", "ignore")  # noqa: PTH111
    return path if path.is_absolute() and path.is_file() else None


def _branch_in_operation(git_dir: Path) -> str | None:
    for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
        line = _content(git_dir / name).split("\n", 1)[0].strip()
        if line:
            full = line if line.startswith(_BRANCH) else _BRANCH + line
            return full if line != "detached HEAD" else None
    return None


def _linked(marker: Path) -> Path:
    target = _content(marker)
    if not target.startswith("gitdir:"):
        raise GitFailed(
            f"{marker} does not lead to a git folder",
            why="It is a file, and its first line is not `gitdir: <folder>`.",
            next_step=f"`git worktree repair {shlex.quote(str(marker.parent))}`, in the main checkout",
        )
    return (marker.parent / target.removeprefix("gitdir:").strip()).resolve()


def _content(file: Path) -> str:
    """Read a small file that git wrote, without its final newline; "" if it does not exist."""
    try:
        with file.open("rb") as opened:
            return os.fsdecode(opened.read(16_384)).removesuffix("\n")
    except (FileNotFoundError, NotADirectoryError):
        return ""
