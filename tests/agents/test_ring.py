"""What the kernel refuses, tried by a real process; and what is said where it refuses nothing."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sandbox import landlock
from asbuilt.agents.sandbox import launch as sandbox_launch
from asbuilt.agents.sandbox.launch import Probed, launch, probe, runtime_folders, settle
from asbuilt.agents.sandbox.unavailable import Knobs, why_bubblewrap, why_landlock
from asbuilt.policy.sandbox.rules import for_agent, for_check, for_planning
from tests.agents.conftest import Machine
from tests.contracts.attempts import ended, started_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.policy.sandbox.rules import Level, Request

needs_bwrap = pytest.mark.skipif(probe().level != "bwrap", reason="bubblewrap does not hold here")
PLANNING_LEVELS = [level for level in ("bwrap", "landlock") if level == probe().level or landlock.abi() >= 4]
NETWORK = "import socket,sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 3)"


@pytest.fixture
def held() -> Iterator[Machine]:
    # Not below /tmp: there everything is out of reach anyway, and these tests would prove nothing.
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="asbuilt-tests-", dir=cache) as folder:
        yield Machine(root=Path(folder).resolve() / "m", level="bwrap")


def said(level: Level, request: Request, *argv: str) -> tuple[int, str]:
    with launch(level, request, argv) as process:
        output, _ = process.communicate(timeout=30)
    return process.returncode, output.decode()


def agent_says(machine: Machine, *acts: str) -> list[str]:
    """Let an agent do things, and give what it said and what it was told about them."""
    brief = started_with(machine, machine.playing(f"[[turn]]\nacts = [{', '.join(acts)}]\n"))
    assert ended(machine, brief).ending == "done"
    events, _ = machine.attempts.events(brief.attempt)
    return [str(event["text"]) for event in events if event["kind"] in ("said", "noted")]


def test_the_probe_tells_what_it_tried() -> None:
    assert probe().level in ("bwrap", "landlock", "seatbelt", "none")
    assert (probe().reasons == ()) == (probe().level in ("bwrap", "seatbelt"))
    assert probe() is probe()


@needs_bwrap
def test_a_probe_that_failed_is_tried_again_and_one_that_held_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(sandbox_launch, "_last", [])
    monkeypatch.setattr(sandbox_launch, "time", SimpleNamespace(monotonic=lambda: now[0]))
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert probe().for_work == "none"
    broken.unlink()
    now[0] += 9
    assert probe().for_work == "none"
    now[0] += 1
    assert (probe().level, probe().reasons) == ("bwrap", ())
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    now[0] += 1_000
    assert probe().level == "bwrap"


def test_landlock_holds_no_agent() -> None:
    assert Probed(level="landlock").for_work == "none"
    assert Probed(level="bwrap").for_work == "bwrap"


@needs_bwrap
def test_an_agent_writes_to_its_workspace_and_to_nothing_else(held: Machine) -> None:
    folder = held.attempts.folder("01J.1.1")
    outside = [
        held.home / "x",
        held.common / "config",
        held.common / "hooks" / "post-checkout",
        held.workspace / ".git",
        held.workspace / "plans" / "login.md",
        held.state / "journal.db",
        folder / "result.json",
        folder / "brief.json",
        folder / "beat",
    ]
    before = {path: path.read_bytes() for path in outside if path.is_file()}
    acts = [f'{{ write = "{path}", text = "evil" }}' for path in outside]
    told = agent_says(held, *acts, '{ write = "deep/down/own.txt", text = "mine" }')
    assert {line.rpartition(": ")[2] for line in told} == {"Read-only file system"}
    after = {path: path.read_bytes() for path in outside if path.is_file() and path.parent != folder}
    assert after == before
    assert "evil" not in (folder / "result.json").read_text() + (folder / "brief.json").read_text()
    assert (held.workspace / "deep" / "down" / "own.txt").read_text() == "mine"


@needs_bwrap
def test_the_git_file_can_be_neither_moved_nor_removed(held: Machine) -> None:
    git_file = (held.workspace / ".git").read_bytes()
    told = agent_says(held, '{ delete = ".git" }', '{ move = ".git", to = "old" }', '{ run = "rm -rf .git" }')
    assert "delete .git: Device or resource busy" in told
    assert (held.workspace / ".git").read_bytes() == git_file


@needs_bwrap
def test_secrets_and_the_state_are_not_there_to_be_read(held: Machine) -> None:
    told = agent_says(
        held,
        f'{{ read = "{held.home}/.ssh/id" }}',
        f'{{ read = "{held.home}/.netrc" }}',
        f'{{ read = "{held.state}/journal.db" }}',
        f'{{ read = "{held.attempts.folder("01J.1.1")}/brief.json" }}',
    )
    assert told == [
        f"read {held.home}/.ssh/id: No such file or directory",
        f"read {held.home}/.netrc: No such file or directory",
        f"read {held.state}/journal.db: No such file or directory",
        f"read {held.attempts.folder('01J.1.1')}/brief.json: No such file or directory",
    ]


@needs_bwrap
def test_a_secret_behind_a_link_is_hidden_too(held: Machine) -> None:
    (held.home / ".ssh").rename(held.root / "elsewhere")
    (held.home / ".ssh").symlink_to(held.root / "elsewhere")
    told = agent_says(held, f'{{ read = "{held.root}/elsewhere/id" }}', f'{{ read = "{held.home}/.ssh/id" }}')
    assert [line.rpartition(": ")[2] for line in told] == ["No such file or directory"] * 2


@needs_bwrap
def test_the_environment_of_whoever_started_it_is_nowhere(
    held: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_SECRET", "do-not-tell")
    told = agent_says(held, "{ run = \"cat /proc/*/environ /proc/*/cmdline | tr '\\\\0' ' '; env\" }")
    assert "do-not-tell" not in "".join(told)
    assert held.mark in "".join(told)


@needs_bwrap
def test_hooks_of_the_users_own_are_told_that_this_is_an_attempt(held: Machine) -> None:
    """They stay silent then (`tests/hook`): here the host answers every question."""
    assert agent_says(held, '{ run = "echo attempt $ASBUILT_ATTEMPT" }') == ["exit 0: attempt 1\n"]


@needs_bwrap
def test_an_agent_sees_no_process_but_its_own_and_no_socket_of_a_session(held: Machine) -> None:
    told = agent_says(held, "{ run = \"ls /proc | grep -c '^[0-9]'; ls -A /run | grep -v systemd; true\" }")
    processes, *run = told[0].removeprefix("exit 0: ").split()
    assert int(processes) < 10
    assert run == []


@needs_bwrap
def test_nobody_in_the_ring_undoes_it(held: Machine) -> None:
    told = agent_says(
        held,
        '{ run = "grep CapEff /proc/self/status" }',
        f'{{ run = "mount -o remount,rw,bind / 2>&1; umount {held.workspace}/.git 2>&1" }}',
        '{ write = "/etc/asbuilt-was-here", text = "" }',
    )
    assert told[0].split()[-1] == "0000000000000000"
    assert told[-1] == "write /etc/asbuilt-was-here: Read-only file system"


@needs_bwrap
@pytest.mark.parametrize("network", [True, False])
def test_a_check_has_a_network_only_when_it_is_given_one(held: Machine, *, network: bool) -> None:
    own = held.state / "scratch"
    own.mkdir()
    request = settle(
        for_check(cwd=str(held.workspace), home=str(own), tmp=str(own), network=network), homes=[held.home]
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        code, _ = said("bwrap", request, sys.executable, "-I", "-S", "-c", NETWORK, port)
    assert (code == 0) == network


@pytest.mark.parametrize("level", PLANNING_LEVELS)
def test_planning_reads_everything_it_was_shown_and_changes_nothing(held: Machine, level: Level) -> None:
    request = settle(for_planning(cwd=str(held.workspace)), homes=[held.home], hidden=[held.state / "runs"])
    attack = f"echo x > evil; echo x > {held.home}/evil; rm -f plans/login.md"
    script = f"cat plans/login.md; {attack}; echo x > /dev/null; echo $?"
    _, output = said(level, request, "/bin/sh", "-c", script)
    assert (output.splitlines()[0], output.splitlines()[-1]) == ("# Login", "0")
    assert (held.workspace / "plans" / "login.md").read_text() == "# Login\n"
    assert not (held.workspace / "evil").exists()
    assert not (held.home / "evil").exists()


@pytest.mark.parametrize("level", PLANNING_LEVELS)
def test_planning_has_no_network_no_secrets_and_no_foreign_environment(
    held: Machine, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_SECRET", "do-not-tell")
    request = settle(for_planning(cwd=str(held.workspace), readable=runtime_folders()), homes=[held.home])
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        code, _ = said(level, request, sys.executable, "-I", "-S", "-c", NETWORK, port)
    assert code != 0
    parent = os.getpid()
    _, output = said(
        level, request, "/bin/sh", "-c", f"cat {held.home}/.ssh/id /proc/{parent}/environ /proc/1/environ"
    )
    assert "a secret" not in output
    assert "do-not-tell" not in output


@pytest.mark.skipif(landlock.abi() == 0, reason="no Landlock")
def test_a_landlock_that_is_not_taken_starts_nothing() -> None:
    rules = '{"files": 18446744073709551615, "network": 0, "scopes": 0, "paths": []}'
    done = subprocess.run(
        [sys.executable, "-I", "-S", landlock.__file__, rules, "--", "echo", "ran"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (125, "", "landlock: Invalid argument\n")


def test_what_is_not_there_is_neither_masked_nor_shown(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    asked = for_agent(
        workspace=str(workspace), writable=True, out=str(tmp_path), home=str(tmp_path), tmp=str(tmp_path)
    )
    settled = settle(asked, homes=[tmp_path / "nobody"])
    assert settled.read_only == ()
    assert [path for path in settled.hidden if path.startswith(str(tmp_path))] == []


def test_a_missing_bubblewrap_is_named() -> None:
    assert why_bubblewrap("", Knobs(), there=False).what == "bubblewrap is not installed"


@pytest.mark.parametrize(
    ("said_by_it", "knobs", "what"),
    [
        (
            "bwrap: setting up uid map: Permission denied",
            Knobs(apparmor=True, in_container=True),
            "AppArmor refuses bubblewrap a user namespace",
        ),
        ("bwrap: No permissions", Knobs(namespaces_off=True), "this system has user namespaces switched off"),
        (
            "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
            Knobs(in_container=True),
            "this container may not make namespaces of its own",
        ),
        ("bwrap: odd", Knobs(), "bubblewrap does not start: bwrap: odd"),
    ],
)
def test_a_refusal_names_its_cause_and_its_remedy(said_by_it: str, knobs: Knobs, what: str) -> None:
    refusal = why_bubblewrap(said_by_it, knobs, there=True)
    assert refusal.what == what
    assert refusal.why.endswith(".") or said_by_it in refusal.why
    assert refusal.next_step.endswith(".")


def test_bubblewrap_that_runs_and_holds_nothing_is_named_whatever_the_knobs_are() -> None:
    refusal = why_bubblewrap("the canary got out", Knobs(apparmor=True), there=True, ran=True)
    assert (refusal.cause, refusal.what) == ("leaks", "bubblewrap does not work here: the canary got out")


def test_landlock_that_is_off_is_told_from_landlock_that_leaks() -> None:
    assert why_landlock("").what == "Landlock is off"
    assert why_landlock("it ran, and let a write through").what.startswith("Landlock does not work here")
