"""Build a release into dist/ and check it. `--smoke`: one Python, without the demo and without the network.

Both builds start from `git archive HEAD` in different folders and have to be byte-identical. A check that
cannot run here is printed as NOT RUN with its reason; a check that fails ends the release with exit code 1.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
DIST: Final = ROOT / "dist"
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
SBOM: Final = "cyclonedx-bom==7.5.0"
AUDIT: Final = "pip-audit==2.10.1"
CONTENTS: Final = (
    r"asbuilt/py\.typed",
    r"asbuilt/cli/commands/init/plugin/.+",
    r"asbuilt/cli/commands/selftest/corpus/lies/.+",
    r"asbuilt-[^/]+\.data/data/share/man/man1/asbuilt\.1",
    r"asbuilt-[^/]+\.data/data/share/man/man1/asbuilt-run\.1",
    r"asbuilt-[^/]+\.data/data/share/bash-completion/completions/asbuilt",
    r"asbuilt-[^/]+\.data/data/share/zsh/site-functions/_asbuilt",
    r"asbuilt-[^/]+\.data/data/share/fish/vendor_completions\.d/asbuilt\.fish",
    r"asbuilt-[^/]+\.dist-info/licenses/LICENSE",
)
SHARED: Final = (
    "man/man1/asbuilt.1",
    "bash-completion/completions/asbuilt",
    "zsh/site-functions/_asbuilt",
    "fish/vendor_completions.d/asbuilt.fish",
)


class ReleaseFailed(Exception):
    """A check of the release failed."""


def main() -> int:
    """Build, check, and print what was checked."""
    is_smoke = "--smoke" in sys.argv
    try:
        with tempfile.TemporaryDirectory(prefix="asbuilt-release-") as made:
            for line in release(Path(made), is_smoke=is_smoke):
                print(line, flush=True)
    except ReleaseFailed as failure:
        print(f"FAILED   {failure}")
        return 1
    return 0


def release(folder: Path, *, is_smoke: bool) -> Iterator[str]:
    """Yield a line for each check."""
    commit = _run(["git", "rev-parse", "HEAD"], cwd=ROOT).strip()
    first, second = build(folder / "one", commit), build(folder / "two" / "deeper", commit)
    for file, twin in zip(first, second, strict=True):
        if _digest(file) != _digest(twin):
            raise ReleaseFailed(f"two builds of {file.name} differ: {_digest(file)} and {_digest(twin)}")
        size = f"{file.stat().st_size:,} bytes"
        yield f"built    {file.name}   {size}   sha256:{_digest(file)}   twice, byte-identical"
    sdist, wheel = first
    yield check_version(wheel)
    if not is_smoke:
        yield check_fragments(ROOT / "changelog.d")
    yield check_contents(wheel)
    yield from_sdist(sdist, wheel, folder / "unpacked", commit)
    uv = shutil.which("uv") or str(ROOT / ".tools/bin/uv")
    for version in PYTHONS[:1] if is_smoke else PYTHONS:
        yield from try_python(uv, version, wheel, folder / version, is_smoke=is_smoke)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    kept = [Path(shutil.copy2(file, DIST)) for file in first]
    if not is_smoke:
        yield from bill_of_materials(uv, kept)
        yield audit(uv)
        yield upgrade()
    sums = "".join(f"{_digest(file)}  {file.name}\n" for file in kept)
    (DIST / "SHA256SUMS").write_text(sums, encoding="utf-8")
    yield f"ready    dist/: {', '.join(file.name for file in sorted(DIST.iterdir()))}"


def build(folder: Path, commit: str) -> tuple[Path, Path]:
    """Build sdist and wheel of a commit in a folder of their own, dated by the commit."""
    tree = folder / "tree"
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(tree, filter="data")
    dated = _run(["git", "log", "-1", "--format=%ct", commit], cwd=ROOT).strip()
    return _hatch(tree, folder / "dist", "sdist", dated), _hatch(tree, folder / "dist", "wheel", dated)


def _hatch(tree: Path, into: Path, target: str, dated: str) -> Path:
    environ = {"PATH": os.environ["PATH"], "HOME": str(into.parent), "SOURCE_DATE_EPOCH": dated}
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into)]
    _run(command, cwd=tree, environ=environ)
    [built] = into.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return built


def check_version(wheel: Path) -> str:
    """Compare the wheel's version with the changelog and the plugin."""
    version = wheel.name.split("-")[1]
    places = {
        "CHANGELOG.md": rf"^## {re.escape(version)} \(",
        "plugin/.claude-plugin/plugin.json": rf'"version": "{re.escape(version)}"',
        "plugin/.claude-plugin/marketplace.json": rf'"version": "{re.escape(version)}"',
    }
    for name, pattern in places.items():
        if not re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE):
            raise ReleaseFailed(f"{name} does not name version {version}")
    return f"version  {version} in {', '.join(places)}"


def check_fragments(folder: Path) -> str:
    """Check that the changelog has every change: no fragment is left."""
    left = sorted(file.name for file in folder.glob("*.md"))
    if left:
        raise ReleaseFailed(f"CHANGELOG.md does not have {', '.join(left)}. Next: just changelog")
    return "changes  no fragment is left in changelog.d/"


def check_contents(wheel: Path) -> str:
    """Check that man pages, completions, plugin and corpus are inside, and nothing of this machine."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        for pattern in CONTENTS:
            if not any(re.fullmatch(pattern, name) for name in names):
                raise ReleaseFailed(f"the wheel has no {pattern}")
        here = str(ROOT).encode()
        leaked = [name for name in names if here in packed.read(name)]
    if leaked:
        raise ReleaseFailed(f"the wheel names a path of this machine: {', '.join(leaked)}")
    return f"contents {len(names)} files: man pages, completions, plugin and corpus are inside"


def from_sdist(sdist: Path, wheel: Path, folder: Path, commit: str) -> str:
    """Build the wheel from the sdist: it has to be the same."""
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    [tree] = folder.iterdir()
    dated = _run(["git", "log", "-1", "--format=%ct", commit], cwd=ROOT).strip()
    again = _hatch(tree, folder.parent / "from-sdist", "wheel", dated)
    if _digest(again) != _digest(wheel):
        raise ReleaseFailed("the wheel that is built from the sdist differs")
    return "sdist    the wheel built from it is identical"


def try_python(uv: str, version: str, wheel: Path, folder: Path, *, is_smoke: bool) -> Iterator[str]:
    """Install the wheel with locked dependencies for one Python and use it in an empty home."""
    python = find_python(uv, version)
    if python is None:
        yield f"NOT RUN  Python {version}: not installed, and uv cannot download it here"
        return
    home, venv = folder / "home", folder / "venv"
    home.mkdir(parents=True)
    _run([uv, "venv", "--quiet", "--python", python, str(venv)])
    locked = ["--require-hashes", "-r", str(ROOT / "requirements/run.txt")]
    into = {**os.environ, "UV_SYSTEM_CERTS": "true", "VIRTUAL_ENV": str(venv)}
    _run([uv, "pip", "install", "--quiet", *locked], environ=into)
    _run([uv, "pip", "install", "--quiet", "--no-deps", str(wheel)], environ=into)
    for name in SHARED:
        if not (venv / "share" / name).is_file():
            raise ReleaseFailed(f"Python {version}: share/{name} is not installed")
    alone = {"HOME": str(home), "PATH": f"{venv / 'bin'}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    shop = home / "shop"
    shop.mkdir()
    _run(["git", "init", "-q", "-b", "main"], cwd=shop, environ=alone)
    said = _run(["asbuilt", "--version"], cwd=shop, environ=alone).strip()
    steps = [["plan", "new", "Greeting"], ["plan", "list", "--json"], ["status"]]
    steps += [] if is_smoke else [["demo"]]
    for step in steps:
        _run(["asbuilt", *step], cwd=shop, environ=alone)
    exact = _run([str(venv / "bin/python"), "--version"], environ=alone).strip()
    yield f"tried    {exact}: {said}, {', '.join(' '.join(step) for step in steps)} in an empty home"


def find_python(uv: str, version: str) -> str | None:
    """Find an interpreter on PATH, of pyenv or of uv; None if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)]
    for program in filter(None, found):
        asked = [str(program), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        told = subprocess.run(asked, capture_output=True, text=True, check=False)
        if told.returncode == 0 and told.stdout.strip() == version:
            return str(program)
    environ = {**os.environ, "UV_SYSTEM_CERTS": "true"}
    subprocess.run(
        [uv, "python", "install", "--quiet", version], env=environ, capture_output=True, check=False
    )
    managed = subprocess.run(
        [uv, "python", "find", "--managed-python", version], capture_output=True, text=True, check=False
    )
    return managed.stdout.strip() or None


def bill_of_materials(uv: str, kept: list[Path]) -> Iterator[str]:
    """Write the SBOM of the locked dependencies."""
    bom = DIST / "asbuilt.cdx.json"
    tool = [uv, "tool", "run", "--quiet", "--from", SBOM, "cyclonedx-py", "requirements"]
    environ = {**os.environ, "UV_SYSTEM_CERTS": "true"}
    _run(
        [*tool, str(ROOT / "requirements/run.txt"), "--output-reproducible", "--of", "JSON", "-o", str(bom)],
        environ=environ,
    )
    kept.append(bom)
    yield f"sbom     {bom.name}   {bom.stat().st_size:,} bytes   sha256:{_digest(bom)}"


def audit(uv: str) -> str:
    """Compare the locked dependencies with PyPI's advisory database."""
    tool = [uv, "tool", "run", "--quiet", AUDIT, "-r", str(ROOT / "requirements/run.txt")]
    environ = {**os.environ, "UV_SYSTEM_CERTS": "true"}
    asked = subprocess.run(
        [*tool, "--require-hashes", "--disable-pip"], env=environ, capture_output=True, text=True, check=False
    )
    if asked.returncode == 0:
        return "audit    no known vulnerability in the locked dependencies"
    if "Found " in asked.stdout + asked.stderr:
        raise ReleaseFailed(f"pip-audit:\n{asked.stdout}{asked.stderr}")
    last = (asked.stderr.strip().splitlines() or ["no output"])[-1]
    return f"NOT RUN  pip-audit: the advisory database cannot be reached here ({last[:120]})"


def upgrade() -> str:
    """Continue the runs of a journal that an older version wrote."""
    test = "tests/journeys/test_older_journal.py"
    _run([sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", test], cwd=ROOT, environ=os.environ)
    return f"upgrade  {test} passes: journals of an older version are opened and continued"


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _run(command: Sequence[str], *, cwd: Path | None = None, environ: Mapping[str, str] | None = None) -> str:
    # Found on the PATH of the child's environment, not on ours.
    program = shutil.which(command[0], path=environ.get("PATH") if environ else None) or command[0]
    ended = subprocess.run(
        [program, *command[1:]], cwd=cwd, env=environ, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        shown = f"{ended.stdout}{ended.stderr}".strip()
        raise ReleaseFailed(f"{' '.join(command)}: exit {ended.returncode}\n{shown[-2000:]}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
