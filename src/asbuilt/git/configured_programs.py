"""Programs that a repository's own git settings name: `.git/config`, `config.worktree` and their includes.

These files can come with a repository that was unpacked or copied. Rule: git, started by asbuilt, starts none
of their programs before the user has agreed. Until then every such key is overridden, with the user's own
value if there is one. The user's and the system's settings are trusted.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.errors import GitFailed
from asbuilt.git.command import Git

Setting = tuple[str, str]
"""A key as git writes it, and its value."""


class _Kind(NamedTuple):
    keys: str
    off: str | None
    """A value that starts no program of the repository; None if asbuilt's git commands never read the key."""
    harmless: str = ""
    """Pattern of values that name no program of the repository."""


_FLAG: Final = "|true|false|yes|no|on|off|0|1"
_HELPERS: Final = "|cache( --timeout[= ][0-9]+)?|store|osxkeychain|manager(-core)?|libsecret|wincred"
_KINDS: Final = (
    _Kind(
        r"filter\..+\.(clean|smudge|process)",
        "",
        r"|git-lfs (clean|smudge)( --skip)?( --)? %f|git-lfs filter-process( --skip)?",
    ),
    _Kind(r"gpg\.(openpgp\.)?program", "gpg", "gpg2?"),
    _Kind(r"gpg\.x509\.program", "gpgsm", "gpgsm"),
    _Kind(r"gpg\.ssh\.program", "ssh-keygen", "ssh-keygen"),
    _Kind(r"gpg\.ssh\.defaultkeycommand", "false"),
    _Kind(r"credential\.(.+\.)?helper", "", rf"{_HELPERS}|!gh auth git-credential"),
    _Kind(r"core\.fsmonitor", "false", _FLAG),
    _Kind(r"core\.(sshcommand|gitproxy|askpass|editor|alternaterefscommand)|sequence\.editor", "false"),
    _Kind(r"core\.pager|pager\..+|interactive\.difffilter", "cat", f"{_FLAG}|cat|less"),
    _Kind(r"diff\.external|diff\..+\.command", "true"),
    _Kind(r"diff\..+\.textconv", "cat", "cat"),
    _Kind(r"merge\..+\.driver", "false", "true"),
    _Kind(r"trailer\..+\.(command|cmd)|hook\..+\.command", "true"),
    _Kind(r"remote\..+\.receivepack", "git-receive-pack", "git[ -]receive-pack"),
    _Kind(r"remote\..+\.uploadpack", "git-upload-pack", "git[ -]upload-pack"),
    _Kind(r"lfs\.(customtransfer\..+\.path|extension\..+\.(clean|smudge))", "false"),
    _Kind(r"alias\..+|submodule\..+\.update", None, r"[^!].*"),
    _Kind(r"remote\..+\.(push)?url", None, r"(?!ext::).*"),
    _Kind(r"url\.ext::.*\.(push)?insteadof", None),
)
_INCLUDES: Final = r"include\.path|includeif\..+\.path"
_WANTED: Final = re.compile("|".join((*(kind.keys for kind in _KINDS), _INCLUDES)))
_KEYS: Final = [(re.compile(kind.keys), re.compile(kind.harmless, re.DOTALL), kind.off) for kind in _KINDS]
_INCLUDE: Final = re.compile(_INCLUDES)
_CREDENTIAL: Final = re.compile(r"credential\.(.+\.)?helper")
_FILTER: Final = re.compile(r"filter\.(.+)\.(?:clean|smudge|process)")
_FILES: Final = 100
"""Maximum number of settings files that are read. Git itself stops at ten nested includes."""
_CONTENT: Final = 10_000_000


class Programs(NamedTuple):
    """Programs that a repository's own settings name, and the settings that turn them off."""

    named: tuple[Setting, ...] = ()
    digest: str = ""
    """Covers the folder, the settings, and the contents of every file of the repository that they name."""
    off: tuple[Setting, ...] = ()
    """Settings that override the repository's; empty once the user has agreed."""
    is_agreed: bool = False

    @property
    def are_asked(self) -> bool:
        """Whether the user still has to agree."""
        return bool(self.named) and not self.is_agreed

    def unless(self, agreed: Iterable[str]) -> Programs:
        """Return a copy without overrides if this digest is one that the user has agreed to."""
        return self._replace(off=(), is_agreed=True) if self.named and self.digest in agreed else self

    @property
    def drivers(self) -> frozenset[str]:
        """Names of the filters that are turned off, as `.gitattributes` uses them."""
        off = (key for key, value in self.off if not value)
        return frozenset(found[1] for key in off if (found := _FILTER.fullmatch(key)))


NO_PROGRAMS: Final = Programs()


def programs_of(root: Path, common: Path, own: Iterable[Setting], users: Iterable[Setting]) -> Programs:
    """Find the programs in a repository's own settings; `users` are the user's and the system's settings."""
    local = [setting for setting in own if _WANTED.fullmatch(setting[0])]
    extra = [common / "config.worktree", *sorted(common.glob("worktrees/*/config.worktree"))]
    if any(_INCLUDE.fullmatch(key) for key, _ in local) or any(file.is_file() for file in extra):
        local = _in_every_file(common, [common / "config", *extra])
    named = tuple(
        dict.fromkeys(
            (key, value)
            for key, value in local
            if any(keys.fullmatch(key) and not harmless.fullmatch(value) for keys, harmless, _ in _KEYS)
        )
    )
    if not named:
        return NO_PROGRAMS
    return Programs(named, _digest(root, common, named), tuple(_overriding(named, [*users])))


def _in_every_file(common: Path, files: list[Path]) -> list[Setting]:
    """Read the settings files and all their includes, also those whose condition does not hold now."""
    found: list[Setting] = []
    seen: set[Path] = set()
    while files:
        file = files.pop()
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        if len(seen) > _FILES:
            raise GitFailed(
                f"{common / 'config'} includes more than {_FILES} files",
                why="asbuilt reads each one, since any could name a program that git starts.",
                next_step=f"`${{EDITOR:-vi}} {shlex.quote(str(common / 'config'))}`, to remove includes.",
            )
        result = Git(git_dir=common).run("config", "-z", "--file", str(file), "--no-includes", "--list")
        for field in result.fields:
            key, _, value = os.fsdecode(field).partition("\n")
            if _INCLUDE.fullmatch(key):
                files.append(file.parent / os.path.expanduser(value))  # noqa: PTH111 - an unknown user stays as written
            elif _WANTED.fullmatch(key):
                found.append((key, value))
    return found


def _overriding(named: Iterable[Setting], users: list[Setting]) -> Iterable[Setting]:
    """Yield settings that replace the repository's values with the user's own, or with a harmless value."""
    own = dict(users)
    keys = dict.fromkeys(key for key, _ in named)
    for key in keys:
        off = next(off for pattern, _, off in _KEYS if pattern.fullmatch(key))
        if off is None or _CREDENTIAL.fullmatch(key):
            continue
        yield key, own.get(key, off)
        driver = _FILTER.fullmatch(key)
        if driver is not None and key not in own:
            # Git refuses a file whose required filter does nothing.
            yield f"filter.{driver[1]}.required", "false"
    if any(_CREDENTIAL.fullmatch(key) for key in keys):
        # An empty value clears all helpers before it, for every URL.
        yield "credential.helper", ""
        yield from (setting for setting in users if _CREDENTIAL.fullmatch(setting[0]))


def _digest(root: Path, common: Path, named: Iterable[Setting]) -> str:
    digest = hashlib.sha256(os.fsencode(common.resolve()))
    for setting in sorted(named):
        for part in (*setting, *_contents(root, common, setting[1])):
            digest.update(b"\0" + hashlib.sha256(os.fsencode(part)).digest())
    return digest.hexdigest()[:12]


def _contents(root: Path, common: Path, value: str) -> Iterable[str]:
    """Yield digests of the repository's files that a command names; programs elsewhere belong to the user."""
    try:
        words = shlex.split(value.removeprefix("!"))
    except ValueError:
        words = value.split()
    for word in words:
        # A path may follow an option's equals sign.
        file = Path(os.path.realpath(root / os.path.expanduser(word.rpartition("=")[2])))  # noqa: PTH111
        if file.is_file() and any(file.is_relative_to(folder.resolve()) for folder in (root, common)):
            with file.open("rb") as opened:
                yield hashlib.sha256(opened.read(_CONTENT)).hexdigest()
