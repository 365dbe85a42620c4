"""The ring at a person's terminal: what is kept from it, and that nobody in it types for the person."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.agents.plan_session import PlanningSeat
from asbuilt.agents.sandbox.launch import found_bubblewrap, probe, settle
from asbuilt.policy.sandbox.rules import Request, bubblewrap
from asbuilt.ports import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(probe().level != "bwrap", reason="bubblewrap does not hold here")
BECOMING = """\
import sys
from asbuilt.agents.plan_session import run
from asbuilt.policy.sandbox.rules import Request
from asbuilt.agents.sandbox.launch import settle
sys.exit(run("bwrap", settle(Request(chdir="/"), homes=()), sys.argv[1:], terminal=True))
"""
CONTROLLED = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
TYPING = """\
import fcntl, os
for request in (0x5412, 0x541C):
    try:
        fcntl.ioctl(0, request, b"x")
        print("typed")
    except OSError as error:
        print(error.strerror)
print(os.isatty(0), os.get_terminal_size(0).columns)
"""


def at_a_terminal(argv: list[str]) -> list[str]:
    """Run something whose controlling terminal is one of 97 columns."""
    person, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (20, 97))
    with subprocess.Popen(
        [sys.executable, "-I", "-c", CONTROLLED, *argv],
        stdin=terminal,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        said, _ = process.communicate(timeout=60)
    os.close(person)
    os.close(terminal)
    return said.splitlines()


def test_nobody_in_the_ring_types_into_the_terminal_that_it_shares() -> None:
    inside = [sys.executable, "-I", "-S", "-c", TYPING]
    refused = "Operation not permitted"
    assert at_a_terminal([sys.executable, "-c", BECOMING, *inside]) == [refused, refused, "True 97"]


def test_without_the_filter_it_could_where_the_kernel_still_lets_it() -> None:
    """Shows that the test above can fail."""
    knob = Path("/proc/sys/dev/tty/legacy_tiocsti")
    if knob.exists() and knob.read_text().strip() == "0":
        pytest.skip("this kernel lets nobody type (dev.tty.legacy_tiocsti is 0)")
    request = settle(Request(chdir="/"), homes=())
    typing = [sys.executable, "-I", "-S", "-c", TYPING]
    argv = bubblewrap(request, typing, program=str(found_bubblewrap()), shares_terminal=True)
    assert at_a_terminal(argv)[0] == "typed"


@pytest.fixture
def seat() -> Iterator[PlanningSeat]:
    # Not below /tmp: there everything is out of reach anyway, and these tests would prove nothing.
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="asbuilt-tests-", dir=cache) as name:
        room = Path(name).resolve()
        for folder in (
            "shop/plans",
            "shop/.git",
            "home/.claude/skills",
            "home/.ssh",
            "state/conversations/1-2",
        ):
            (room / folder).mkdir(parents=True)
        (room / "home" / ".claude.json").write_text('{"theme": "dark"}')
        (room / "home" / ".claude" / "settings.json").write_text('{"model": "opus"}')
        (room / "home" / ".claude" / "skills" / "one.md").write_text("skill")
        (room / "home" / ".ssh" / "id").write_text("secret")
        environ = {
            "PATH": os.environ["PATH"],
            "ANTHROPIC_API_KEY": "key",
            "CLAUDE_CODE_MESSAGING_SOCKET": "/other",
            "OTHER": "o",
        }
        yield PlanningSeat(
            root=room / "shop",
            plans=room / "shop" / "plans",
            folder=room / "state" / "conversations" / "1-2",
            config=room / "state" / "planning" / "claude",
            home=room / "home",
            environ=environ,
            look=room / "state" / "look",
        )


def run(seat: PlanningSeat, script: str) -> str:
    """Run a script where the agent would be."""
    seat.furnish()
    request = seat.request({"ASBUILT_CONVERSATION": "1-2"})
    argv = bubblewrap(request, ["/bin/sh", "-c", script], program=str(found_bubblewrap()))
    done = subprocess.run(argv, env=request.environment, capture_output=True, text=True, check=False)
    return done.stdout


def test_a_program_that_is_installed_below_tmp_is_there(seat: PlanningSeat, tmp_path: Path) -> None:
    program = tmp_path / "tools" / "bin" / "claude"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho started\n")
    program.chmod(0o755)
    seat.furnish()
    request = seat.request({}, str(program))
    argv = bubblewrap(request, [str(program)], program=str(found_bubblewrap()))
    done = subprocess.run(argv, env=request.environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "started\n")


@pytest.mark.parametrize("login", [False, True])
def test_only_plans_and_its_own_state_are_writable(seat: PlanningSeat, *, login: bool) -> None:
    if login:
        (seat.home / ".claude" / ".credentials.json").write_text("{}")
    room = seat.home.parent
    held = [
        "shop/new",
        "shop/.git/config",
        "home/new",
        "home/.claude.json",
        "home/.claude/settings.json",
        "home/.claude/skills/two.md",
        "state/conversations/other",
    ]
    free = ["shop/plans/new.md", "state/conversations/1-2/x", "state/planning/claude/x"]
    for name in (*held, *free):
        run(seat, f"echo x >> {room}/{name}")
    wrote = [name for name in (*held, *free) if (room / name).exists() and "x\n" in (room / name).read_text()]
    assert wrote == free


def test_the_agent_is_as_its_user_knows_it_and_sees_no_secret(seat: PlanningSeat) -> None:
    said = run(
        seat,
        f"cd $CLAUDE_CONFIG_DIR; cat settings.json skills/one.md .claude.json; cat {seat.home}/.ssh/id; env",
    )
    assert said.startswith('{"model": "opus"}skill{"theme": "dark"}')
    assert "secret" not in said
    named = {line.partition("=")[0] for line in said.splitlines()}
    assert {"ANTHROPIC_API_KEY", "ASBUILT_CONVERSATION"} <= named
    assert named & {"OTHER", "CLAUDE_CODE_MESSAGING_SOCKET"} == set()


def test_what_the_user_shows_can_be_read_and_what_lies_beside_it_cannot(seat: PlanningSeat) -> None:
    tools = seat.home / "tools"
    (tools / "server").mkdir(parents=True)
    (tools / "server" / "start").write_text("shown\n")
    (tools / "token").write_text("secret")
    shown = replace(seat, opened=Opened(readable=("~/tools/server",)))
    reads = f"cat {tools}/server/start; cat {tools}/token"
    assert (run(seat, reads), run(shown, reads)) == ("", "shown\n")


def test_what_a_session_left_to_act_in_a_later_one_is_gone(seat: PlanningSeat) -> None:
    script = (
        "cd $CLAUDE_CONFIG_DIR; mkdir hooks projects; touch hooks/later.sh projects/kept; rm settings.json;"
    )
    run(seat, script + " echo x > settings.json; echo x > .claude.json; echo x > CLAUDE.md")
    assert run(seat, "cd $CLAUDE_CONFIG_DIR; cat settings.json .claude.json; ls -A") == (
        '{"model": "opus"}{"theme": "dark"}.claude.json\nprojects\nsettings.json\nskills\n'
    )


def test_a_canary_is_refused_before_it_starts(seat: PlanningSeat) -> None:
    seat.furnish()
    request = seat.request({})
    seat.try_out("bwrap", request)
    assert not list(seat.root.glob(".asbuilt-canary*"))
