"""Find the installations that the user's programs need besides the system; the sandbox mounts them read-only.

A sandbox shows no home and nothing of /opt. What a program needs of them is derived from the PATH, from the
variables that name toolchains and certificates, and from the program itself.

Rule: of a folder that many things share (a home, /opt, ~/.local) only parts are shown, and of an installation
only the usual parts: never a folder in which a user may keep other files.

The registries of package tools come from the user's settings and variables, and from the tools themselves
(their public registry). Rule: nothing is read from a repository, because others write its files.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.policy.sandbox.check_environment import TOOLCHAINS
from asbuilt.policy.sandbox.registries import FILES, hosts_in, made_for, paths_in, quoted_hosts, secrets_in
from asbuilt.policy.sandbox.rules import DEFAULT_PATH, SYSTEM
from asbuilt.policy.sandbox.variables import ADDRESS_VARIABLES, SHOWN_VARIABLES

_HEAD: Final = 4_096
_HOPS: Final = 40
_WRAPPED: Final = 3
"""Maximum depth of wrapper scripts."""
_NAMED: Final = re.compile(r"(\$HOME|\$\{HOME\}|~)?(/[\w@.+/-]+)")
_PROGRAMS: Final = 1_000
"""Maximum per folder of the PATH."""
_PARTS: Final = (
    *("bin", "sbin", "lib", "lib64", "libexec", "include", "share", "etc", "boot", "conf", "jmods", "jre"),
    *("pkg", "src", "misc", "legal", "man", "init.d", "api", "Frameworks", "Resources", "release", "VERSION"),
    *("go.env", "pyvenv.cfg", "Cellar", "opt", "Caskroom", "Homebrew", "plugins", "modules"),
)
"""The usual parts of an installation, next to its `bin`."""
_LINKS: Final = ("/usr/bin", "/usr/local/bin", "/usr/sbin", "/etc/alternatives")
_OF_THE_SYSTEM: Final = (*(f"{path}/" for path in SYSTEM), "/etc/", "/proc/", "/dev/", "/sys/")
_PIP: Final = "pip/_internal/models/index.py"
_SETTINGS: Final = ("/etc/pip.conf", "/etc/npmrc", "/etc/gemrc", "/etc/uv/uv.toml", "/etc/cargo/config.toml")
_SHORT: Final = (
    *("lib/python3*/site-packages/{pip}", "lib/python3/dist-packages/{pip}"),
    *(
        "lib/python3*/ensurepip/*/pip-*.whl",
        "lib/python3*/ensurepip/pip-*.whl",
        "share/python-wheels/pip-*.whl",
    ),
    *("lib/ruby/*/rubygems/defaults.rb", "lib/ruby/*/*/rubygems/defaults.rb"),
    "share/maven/lib/maven-model-builder*.jar",
)
"""Small files of tools that name their registry, below a prefix."""
_WITHIN: Final = {".whl": _PIP, ".jar": "org/apache/maven/model/pom-4.0.0.xml"}
_LONG: Final = (
    "lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js",
    "lib/node_modules/corepack/dist/lib/corepack.cjs",
    "lib/node_modules/yarn/lib/cli.js",
)
_PACKAGE_TOOLS: Final = ("cargo", "rustup", "go", "uv")


def variables_in(homes: Iterable[Path]) -> dict[str, str]:
    """Return the variable of each installed toolchain; the first home that has it wins."""
    found: dict[str, str] = {}
    for home in homes:
        for name, below in TOOLCHAINS:
            if name not in found and (home / below).is_dir():
                found[name] = str(home / below)
    return found


def shown_for(environment: Mapping[str, str], homes: Iterable[Path], *programs: str) -> tuple[str, ...]:
    """List what a process with this environment needs besides the system to start these programs."""
    path = environment.get("PATH", DEFAULT_PATH)
    theirs = tuple(str(home) for home in homes)
    found: dict[str, None] = dict.fromkeys(_installed_by_links(theirs))
    for folder in path.split(os.pathsep):
        if folder.startswith("/"):
            found |= dict.fromkeys(_on_path(folder, _changed_at(folder), theirs))
    for program in programs:
        located = shutil.which(program, path=path)
        if located is not None:
            found |= dict.fromkeys(_needed(located, theirs))
        elif program.startswith("/") and Path(program).is_file():
            # A script that is passed to its interpreter.
            found[program] = None
    for name in (*SHOWN_VARIABLES, *ADDRESS_VARIABLES):
        named = (word.removeprefix("file://") for word in environment.get(name, "").split())
        found |= dict.fromkeys(
            known for known in named if known.startswith("/") and not _is_shared(known, theirs)
        )
    return tuple(known for known in found if not known.startswith(_OF_THE_SYSTEM) and Path(known).exists())


def _changed_at(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116  asked before every command
    except OSError:
        return 0


@cache
def _on_path(folder: str, _changed: int, homes: tuple[str, ...]) -> tuple[str, ...]:
    """List what the programs of a PATH folder need; cached until the folder changes."""
    if folder.rstrip("/") in SYSTEM or f"{folder}/".startswith(_OF_THE_SYSTEM) or _is_shared(folder, homes):
        return ()
    found = dict.fromkeys((folder, *_parts_around(folder, homes)))
    try:
        programs = sorted(os.listdir(folder))[:_PROGRAMS]  # noqa: PTH208
    except OSError:
        return ()
    for name in programs:
        found |= dict.fromkeys(_needed(f"{folder}/{name}", homes))
    return tuple(found)


@cache
def _installed_by_links(homes: tuple[str, ...]) -> tuple[str, ...]:
    """List what symlinks in the system's folders point to elsewhere, such as a vendor's package in /opt."""
    found: dict[str, None] = {}
    for folder in _LINKS:
        try:
            entries = [entry for entry in os.scandir(folder) if entry.is_symlink()]
        except OSError:
            continue
        for entry in entries:
            target = os.readlink(entry.path)  # noqa: PTH115  a thousand of them
            if target.startswith("/") and not target.startswith(_OF_THE_SYSTEM):
                found |= dict.fromkeys(_needed(target, homes))
    return tuple(found)


def _needed(program: str, homes: tuple[str, ...], wrapped: int = 0) -> Iterator[str]:
    """Yield the installations of a program, of each symlink to it, and of what its script starts."""
    links = list(_hops(program))
    for link in links:
        yield from _installation(link, homes)
    if wrapped < _WRAPPED:
        for other in _started_by(links[-1], homes):
            yield from _needed(other, homes, wrapped + 1)


def _hops(path: str) -> Iterator[str]:
    """Yield a path and the targets of its symlinks, one by one, as the kernel follows them."""
    here = Path(path)
    for _ in range(_HOPS):
        yield str(here)
        if not here.is_symlink():
            break
        here = Path(os.path.normpath(here.parent / here.readlink()))
    yield str(here.resolve())


def _started_by(program: str, homes: tuple[str, ...]) -> Iterator[str]:
    """Yield the programs that a script names by absolute path: its interpreter, and what it wraps.

    What `env` names is on the PATH, and found there.
    """
    try:
        with Path(program).open("rb") as opened:
            head = opened.read(_HEAD)
    except OSError:
        return
    if head[:2] != b"#!":
        return
    for below, path in dict.fromkeys(_NAMED.findall(os.fsdecode(head))):
        for named in (f"{home}{path}" for home in homes) if below else (path,):
            if named.startswith(_OF_THE_SYSTEM) or not os.access(named, os.X_OK):
                continue
            if Path(named).is_file():
                yield named


def _installation(path: str, homes: tuple[str, ...]) -> tuple[str, ...]:
    """Return what to show: the outermost node_modules, else what is around `bin`, else a folder or file."""
    if path.startswith(_OF_THE_SYSTEM):
        return ()
    file = Path(path)
    packages = next((parent for parent in reversed(file.parents) if parent.name == "node_modules"), None)
    if packages is not None:
        return (str(packages),)
    if file.parent.name in ("bin", "sbin"):
        return (path, *_parts_around(str(file.parent), homes))
    is_private = any(f"{path}/".startswith(f"{home}/") for home in homes)
    return (path,) if is_private or _is_shared(str(file.parent), homes) else (str(file.parent),)


def _parts_around(folder: str, homes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts of the installation that a `bin` belongs to."""
    prefix = Path(folder).parent
    if Path(folder).name not in ("bin", "sbin") or _is_shared(str(prefix), homes):
        return ()
    # `src` of a Go workspace contains the user's modules; `src` of Go itself has the runtime.
    has_sources = (prefix / "src" / "runtime").is_dir()
    parts = (name for name in _PARTS if name != "src" or has_sources)
    return tuple(str(prefix / name) for name in parts if (prefix / name).exists())


def _is_shared(folder: str, homes: tuple[str, ...]) -> bool:
    """Return whether a folder is shared: at the top level, a home, above a home, ~/.local or ~/.config."""
    clean = os.path.normpath(folder)
    if clean.count("/") < 2:
        return True
    return any(
        clean == home or home.startswith(f"{clean}/") or clean in (f"{home}/.local", f"{home}/.config")
        for home in (*homes, *(os.path.realpath(home) for home in homes))
    )


class Registries(NamedTuple):
    """What a setup needs besides the toolchains."""

    hosts: tuple[str, ...]
    readable: tuple[str, ...]
    """Machine-wide settings without credentials, and the folders that settings name."""


def registries(environment: Mapping[str, str], homes: tuple[Path, ...]) -> Registries:
    """Find the registries that the package tools are configured for, and their defaults."""
    shared = {path: _text(Path(path)) for path in _SETTINGS}
    own = [_text(home / file.path) for home in homes for file in FILES if file.keys]
    addresses = [*shared.values(), *own, *(environment.get(name, "") for name in ADDRESS_VARIABLES)]
    hosts = (host for text in addresses for host in hosts_in(text))
    made = (host for prefix in _prefixes(environment, homes) for host in _of_installation(prefix))
    plain = (path for path, text in shared.items() if text and not secrets_in(text))
    folders = (
        path for text in addresses for path in paths_in(text) if path.count("/") > 1 and Path(path).exists()
    )
    return Registries(tuple(dict.fromkeys((*hosts, *made))), tuple(dict.fromkeys((*plain, *folders))))


def _prefixes(environment: Mapping[str, str], homes: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the prefixes of the package tools on the PATH, and rustup's toolchains."""
    yield Path(sys.base_prefix)
    rustup = (Path(environment["RUSTUP_HOME"]),) if "RUSTUP_HOME" in environment else ()
    for home in (*rustup, *(home / ".rustup" for home in homes)):
        yield from sorted((home / "toolchains").glob("*"))
    for program in (*_PACKAGE_TOOLS, "npm", "mvn", "gem", "python3"):
        found = shutil.which(program, path=environment.get("PATH"))
        if found is not None:
            yield Path(found).parent.parent
            yield Path(found).resolve().parent.parent


@cache
def _of_installation(prefix: Path) -> tuple[str, ...]:
    """List the default registries of the tools below a prefix."""
    short = (file for pattern in _SHORT for file in prefix.glob(pattern.replace("{pip}", _PIP)))
    long = [prefix / name for name in (*_LONG, *(f"bin/{package_tool}" for package_tool in _PACKAGE_TOOLS))]
    found = [host for file in short for host in quoted_hosts(_content(file))]
    found += [host for file in long for host in made_for(_content(file))]
    return tuple(dict.fromkeys(found))


def _content(file: Path) -> bytes:
    try:
        if file.suffix not in _WITHIN:
            return file.read_bytes()
        with zipfile.ZipFile(file) as packed:
            return packed.read(_WITHIN[file.suffix])
    except (OSError, KeyError, zipfile.BadZipFile):
        return b""


def _text(file: Path) -> str:
    return _content(file).decode("utf-8", "replace")
