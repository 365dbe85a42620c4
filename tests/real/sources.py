"""Get the source of a real project from a registry and make it a Git repository with one commit.

Rule: a registry that cannot supply a project raises `Unobtainable`; nothing is left out silently.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Registry = Literal["pypi", "npm", "debian", "crate", "snapshot"]

_LIMIT_S: Final = 180
_SNAPSHOTS: Final = "ASBUILT_REAL_SNAPSHOTS"
_APT_CONFIGURATION: Final = Path("/etc/apt")


class Unobtainable(Exception):
    """A registry did not supply what the table names."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a project comes from: a registry and the name there."""

    registry: Registry
    name: str


def unpack(source: Source, cache: Path, target: Path) -> None:
    """Fill `target` with the project's files; an archive that was downloaded before is reused."""
    if source.registry == "snapshot":
        _clone(source.name, target)
        return
    shelf = cache / "archives" / f"{source.registry}-{re.sub(r'[^A-Za-z0-9.]+', '-', source.name)}"
    if not any(shelf.glob("*")):
        partial = shelf.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        _download(source, cache, partial)
        shutil.rmtree(shelf, ignore_errors=True)
        partial.rename(shelf)
    [archive] = shelf.iterdir()
    target.mkdir(parents=True)
    if source.registry == "crate":
        _unpack_crate(archive, target)
    else:
        with tarfile.open(archive) as tar:
            tar.extractall(target, filter="data")
        _lift(target)


def _lift(target: Path) -> None:
    """Move the contents of an archive's only folder up to the target."""
    folders = list(target.iterdir())
    if len(folders) == 1 and folders[0].is_dir():
        inner = folders[0].rename(target.with_suffix(".inner"))
        target.rmdir()
        inner.rename(target)


def _unpack_crate(package: Path, target: Path) -> None:
    """Unpack the crate that a Debian package `librust-*-dev` carries."""
    held = target.with_suffix(".package")
    _run(["dpkg-deb", "-x", str(package), str(held)], package.parent)
    [crate] = (held / "usr/share/cargo/registry").iterdir()
    shutil.copytree(crate, target, dirs_exist_ok=True)
    (target / ".cargo-checksum.json").unlink(missing_ok=True)
    shutil.rmtree(held)


def _download(source: Source, cache: Path, shelf: Path) -> None:
    name = source.name.split("==")[0]
    match source.registry:
        case "pypi":
            # The build backend comes as a wheel: only the project itself has to be a source archive.
            words = [str(_pip(cache)), "download", "--quiet", "--no-deps", "--no-binary", name]
            _run([*words, "--dest", str(shelf), source.name], shelf)
        case "npm":
            _run(["npm", "pack", "--silent", source.name], shelf)
        case "crate":
            _run(["apt-get", "download", "-qq", source.name], shelf)
        case "debian":
            _run(
                [
                    "apt-get",
                    *_source_lists(cache),
                    "source",
                    "-qq",
                    "--download-only",
                    "--tar-only",
                    source.name,
                ],
                shelf,
            )
            for extra in (*shelf.glob("*.asc"), *shelf.glob("*.orig-*")):
                extra.unlink()
        case "snapshot":
            raise AssertionError(source)
    if len(list(shelf.iterdir())) != 1:
        raise Unobtainable(
            f"{source.registry} {source.name}: {sorted(file.name for file in shelf.iterdir())}"
        )


def _pip(cache: Path) -> Path:
    """Return a pip of our own: an environment that uv made, as the one that runs this, has none."""
    folder = cache / f"pip-{os.getpid()}"
    if not folder.exists():
        _run([sys.executable, "-m", "venv", str(folder)], cache)
    return folder / "bin" / "pip"


def _source_lists(cache: Path) -> list[str]:
    """Return the options by which apt reads source packages from the machine's own servers."""
    folder = cache / "apt"
    sources, lists = folder / "sources.d", folder / "lists"
    words = []
    for key, value in (
        ("Dir::Etc::sourcelist", "/dev/null"),
        ("Dir::Etc::sourceparts", str(sources)),
        ("Dir::State::lists", str(lists)),
        ("Dir::Cache", str(folder / "cache")),
    ):
        words += ["-o", f"{key}={value}"]
    if not lists.exists():
        sources.mkdir(parents=True, exist_ok=True)
        (folder / "cache").mkdir(exist_ok=True)
        found = [_APT_CONFIGURATION / "sources.list", *(_APT_CONFIGURATION / "sources.list.d").glob("*")]
        for file in found:
            if file.suffix in {".list", ".sources"} and file.is_file():
                text = file.read_text(encoding="utf-8")
                text = re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.MULTILINE)
                text = re.sub(r"^deb ", "deb-src ", text, flags=re.MULTILINE)
                (sources / file.name).write_text(text, encoding="utf-8")
        lists.mkdir()
        try:
            _run(["apt-get", *words, "update", "-qq"], folder)
        except Unobtainable:
            shutil.rmtree(lists)
            raise
    return words


def _clone(name: str, target: Path) -> None:
    """Clone a Git snapshot that lies as `owner+name` below the folder of ASBUILT_REAL_SNAPSHOTS."""
    folder = os.environ.get(_SNAPSHOTS, "")
    found = sorted(Path(folder, name.replace("/", "+")).glob("**/HEAD")) if folder else []
    if not found:
        raise Unobtainable(f"no clone of {name} below the folder that {_SNAPSHOTS} names")
    _run(["git", "clone", "--quiet", "--no-hardlinks", str(found[0].parent), str(target)], Path(folder))
    _run(["git", "checkout", "--quiet", "-B", "main"], target)


def _run(words: list[str], folder: Path) -> None:
    try:
        ended = subprocess.run(
            words, cwd=folder, check=False, capture_output=True, text=True, errors="replace", timeout=_LIMIT_S
        )
    except (subprocess.TimeoutExpired, FileNotFoundError) as error:
        raise Unobtainable(f"{' '.join(words)}: {error}") from error
    if ended.returncode != 0:
        last = "\n".join((ended.stdout + ended.stderr).strip().splitlines()[-5:])
        raise Unobtainable(f"{' '.join(words)}: exit {ended.returncode}\n{last}")
