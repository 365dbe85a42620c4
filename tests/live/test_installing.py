"""Agents are installed once, whole or not at all. Npm is a script here: no registry is asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contracts.attempts import until
from tests.live.pinned import Pinned, pinned

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALLER = Path(__file__).parents[2] / "scripts" / "agents.py"
CODEX = pinned()["codex-acp"]
WORKS = (
    'mkdir -p node_modules/.bin && echo "$@" > node_modules/.bin/codex-acp; env > "$ROOT"/environment-$$\n'
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "agents"


@pytest.fixture
def install(root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], subprocess.Popen[str]]:
    """Start the installer where npm is so many lines of shell."""
    monkeypatch.setenv("ASBUILT_AGENTS", str(root))
    monkeypatch.setenv("A_SECRET", "the user's own")

    def start(npm: str) -> subprocess.Popen[str]:
        node = pinned()["node"].path
        node.parent.mkdir(parents=True, exist_ok=True)
        node.write_text(f"#!/bin/sh\nROOT={root}\necho start >> {root}/starts\n{npm}")
        node.chmod(0o755)
        return subprocess.Popen(
            [sys.executable, str(INSTALLER), "--only", "codex-acp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return start


def names(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.is_dir())


@pytest.mark.parametrize(
    "agent", [agent for agent in pinned().values() if agent.name != "node"], ids=lambda agent: agent.name
)
def test_every_package_of_an_agent_is_locked_by_its_contents_and_by_no_host(agent: Pinned) -> None:
    packages = json.loads(agent.lock.read_text())["packages"]
    assert packages.pop("")["dependencies"] == {agent.package: agent.version}
    assert packages[f"node_modules/{agent.package}"]["version"] == agent.version
    assert [name for name, package in packages.items() if not package.get("integrity")] == []
    assert [name for name, package in packages.items() if "resolved" in package] == []


def test_an_agent_is_installed_from_its_lock_with_no_script_and_nothing_of_ours(
    root: Path, install: Callable[[str], subprocess.Popen[str]]
) -> None:
    said, _ = install(WORKS).communicate(timeout=60)
    assert [line.split(" in ")[0] for line in said.splitlines()] == [
        f"node {pinned()['node'].version} is there",
        f"codex-acp {CODEX.version} installed",
    ]
    assert "npm-cli.js ci --ignore-scripts" in CODEX.path.read_text()
    assert (CODEX.folder / "package-lock.json").read_bytes() == CODEX.lock.read_bytes()
    (environment,) = root.glob("environment-*")
    assert "A_SECRET" not in environment.read_text()
    assert f"HOME={Path.home()}\n" not in environment.read_text()


def test_two_at_once_install_once_and_both_find_it(
    root: Path, install: Callable[[str], subprocess.Popen[str]]
) -> None:
    both = [install(f"sleep 0.3\n{WORKS}") for _ in range(2)]
    said = [one.communicate(timeout=60)[0].splitlines()[1] for one in both]
    assert sorted(line.split(" in ")[0] for line in said) == [
        f"codex-acp {CODEX.version} installed",
        f"codex-acp {CODEX.version} is there",
    ]
    assert (root / "starts").read_text() == "start\n"


def test_whoever_is_killed_leaves_nothing_that_passes_for_an_agent(
    root: Path, install: Callable[[str], subprocess.Popen[str]]
) -> None:
    first = install("mkdir -p node_modules/.bin; touch node_modules/.bin/codex-acp; sleep 60\n")
    until(lambda: any(root.glob("codex-acp-*.making-*/node_modules/.bin/codex-acp")))
    assert not CODEX.path.exists()
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    install(WORKS).communicate(timeout=60)
    assert names(root) == [f"codex-acp-{CODEX.version}", f"node-{pinned()['node'].version}"]


def test_an_install_that_fails_says_why_and_is_no_install(
    install: Callable[[str], subprocess.Popen[str]],
) -> None:
    process = install("echo 'npm error 404 no such package' >&2\nexit 7\n")
    _, said = process.communicate(timeout=60)
    assert (process.returncode, CODEX.path.exists()) == (1, False)
    assert said == (
        f"codex-acp {CODEX.version} could not be installed: exit 7:\nnpm error 404 no such package\n"
    )
    again = install(WORKS)
    again.communicate(timeout=60)
    assert (again.returncode, CODEX.path.exists()) == (0, True)
