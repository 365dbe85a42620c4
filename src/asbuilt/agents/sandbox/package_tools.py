"""Find the registries of the installed package tools. A setup can reach these when its network is a list.

They come from the user's settings and variables, and from the tools themselves (their public registry).
Rule: nothing is read from a repository, because others write its files.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.policy.sandbox.registries import FILES, hosts_in, made_for, paths_in, quoted_hosts, secrets_in
from asbuilt.policy.sandbox.variables import ADDRESS_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
_PROGRAMS: Final = ("cargo", "rustup", "go", "uv")


class Registries(NamedTuple):
    """What a setup needs besides the toolchains."""

    hosts: tuple[str, ...]
    readable: tuple[str, ...]
    """Machine-wide settings without credentials, and the folders that settings name."""


def registries(environment: Mapping[str, str], homes: tuple[Path, ...]) -> Registries:
    """Find the registries that the package tools are configured for, and their defaults."""
    shared = {path: _text(Path(path)) for path in _SETTINGS}
    own = [_text(home / file.path) for home in homes for file in FILES if file.keys]
    told = [*shared.values(), *own, *(environment.get(name, "") for name in ADDRESS_VARIABLES)]
    hosts = (host for text in told for host in hosts_in(text))
    made = (host for prefix in _prefixes(environment, homes) for host in _of_installation(prefix))
    plain = (path for path, text in shared.items() if text and not secrets_in(text))
    folders = (
        path for text in told for path in paths_in(text) if path.count("/") > 1 and Path(path).exists()
    )
    return Registries(tuple(dict.fromkeys((*hosts, *made))), tuple(dict.fromkeys((*plain, *folders))))


def _prefixes(environment: Mapping[str, str], homes: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the prefixes of the package tools on the PATH, and rustup's toolchains."""
    yield Path(sys.base_prefix)
    rustup = (Path(environment["RUSTUP_HOME"]),) if "RUSTUP_HOME" in environment else ()
    for home in (*rustup, *(home / ".rustup" for home in homes)):
        yield from sorted((home / "toolchains").glob("*"))
    for program in (*_PROGRAMS, "npm", "mvn", "gem", "python3"):
        found = shutil.which(program, path=environment.get("PATH"))
        if found is not None:
            yield Path(found).parent.parent
            yield Path(found).resolve().parent.parent


@cache
def _of_installation(prefix: Path) -> tuple[str, ...]:
    """List the default registries of the tools below a prefix."""
    short = (file for pattern in _SHORT for file in prefix.glob(pattern.replace("{pip}", _PIP)))
    long = [prefix / name for name in (*_LONG, *(f"bin/{one}" for one in _PROGRAMS))]
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
