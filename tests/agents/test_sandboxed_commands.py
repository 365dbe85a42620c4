"""Commands that we run ourselves: real ones, with real limits."""

from __future__ import annotations

import json
import subprocess
import sys
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.errors import CommandStopped, SandboxUnavailable
from asbuilt.policy.shell.judge import argv_of
from asbuilt.ports import Command
from tests.contracts.attempts import marked, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.policy.sandbox.rules import Level
    from asbuilt.ports import Ended
    from tests.agents.conftest import Machine

MARK = "ASBUILT_TEST_MARK"
MEASURE = """\
import json, re, sys
from pathlib import Path
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.ports import Command
command = Command(argv=tuple(sys.argv[3:]), cwd=Path("/"), output_cap=8_000_000)
ended = SandboxProcesses(scratch=Path(sys.argv[1]), level=sys.argv[2]).run(command)
# Not getrusage: that begins with the size of whoever started us.
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(json.dumps([ended.exit_code, len(ended.output), ended.truncated, peak]))
"""


def run(machine: Machine, text: str, **changes: object) -> Ended:
    name, _, value = machine.mark.partition("=")
    command = Command(
        argv=argv_of(text),
        cwd=machine.workspace,
        environment={name: value},
        **changes,  # type: ignore[arg-type]  # a test names fields of a Command
    )
    return processes(machine).run(command)


def processes(machine: Machine) -> SandboxProcesses:
    return SandboxProcesses(
        scratch=machine.state / "scratch",
        hidden=(machine.state,),
        homes=(machine.home,),
        level=machine.level,
        grace_s=0.5,
    )


def test_a_command_is_ended_when_its_run_is_to_stop_and_leaves_no_result(machine: Machine) -> None:
    mark = machine.workspace / "began"
    command = Command(
        argv=argv_of(f"trap : TERM; touch {mark}; while :; do sleep 0.1; done"),
        cwd=machine.workspace,
        writable=(machine.workspace,),
        timeout_s=120,
    )
    with pytest.raises(CommandStopped):
        processes(machine).ending(mark.exists).run(command)
    assert mark.exists()


def test_output_comes_as_it_was_written_and_the_exit_code_with_it(machine: Machine) -> None:
    ended = run(machine, "printf out; printf err >&2; exit 3")
    assert (ended.exit_code, ended.output, ended.truncated, ended.sandbox_level) == (
        3,
        b"outerr",
        False,
        machine.level,
    )
    assert 0 < ended.duration_s < 30


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("true", 0),
        ("kill -9 $$", 137),
        ("kill -15 $$", 143),
        ("no-such-program-here", 127),
        ("/etc/passwd", 126),
    ],
)
def test_every_end_has_its_exit_code(machine: Machine, text: str, code: int) -> None:
    assert run(machine, text).exit_code == code


def test_stdin_is_closed_and_nobody_waits_for_it(machine: Machine) -> None:
    assert run(machine, "cat").exit_code == 0


def test_bytes_that_are_no_text_and_lines_without_end_come_through(machine: Machine) -> None:
    ended = run(machine, "printf '\\000\\377\\r'")
    assert ended.output == b"\x00\xff\r"


def test_home_and_tmp_are_its_own_and_gone_afterwards(machine: Machine) -> None:
    ended = run(
        machine, 'echo x > "$HOME/a" && echo x > "$TMPDIR/b" && mkdir -m 0 "$TMPDIR/locked" && ls -A "$HOME"'
    )
    assert (ended.exit_code, ended.output) == (0, b"a\n")
    assert list((machine.state / "scratch").iterdir()) == []


def test_only_the_given_environment_gets_in(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_SECRET", "do-not-tell")
    lines = run(machine, "env").output.decode().splitlines()
    names = {line.partition("=")[0] for line in lines} - {"PWD", "SHLVL", "_"}
    assert names == {"HOME", "LANG", "PATH", "TMPDIR", MARK}


def test_a_command_over_its_time_is_ended_with_all_its_children(machine: Machine) -> None:
    ended = run(machine, "trap '' TERM; (setsid sleep 300 &) ; echo begun; sleep 300", timeout_s=1)
    assert (ended.exit_code, ended.output) == (None, b"begun\n")
    # The kernel ends what was in the ring a moment after the ring.
    until(lambda: marked(machine.mark) == [], seconds=5)


def test_children_that_are_left_behind_end_with_the_command(machine: Machine) -> None:
    ended = run(machine, "(setsid sleep 300 >/dev/null 2>&1 &); echo done")
    assert (ended.exit_code, ended.output) == (0, b"done\n")
    until(lambda: marked(machine.mark) == [], seconds=5)


def test_a_child_that_keeps_the_pipe_open_holds_nobody_up(machine: Machine) -> None:
    ended = run(machine, "(setsid sleep 300 &); echo done", timeout_s=60)
    assert (ended.exit_code, ended.output) == (0, b"done\n")
    assert ended.duration_s < 30


def test_output_above_the_cap_keeps_its_head_and_its_tail(machine: Machine) -> None:
    ended = run(machine, "seq 1 100000", output_cap=1000)
    assert ended.truncated
    assert ended.output.startswith(b"1\n2\n3\n")
    assert ended.output.endswith(b"99999\n100000\n")
    assert b"bytes left out here" in ended.output
    assert len(ended.output) < 1100


def test_a_gigabyte_of_output_costs_a_few_megabytes(tmp_path: Path, level: Level) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path), level, "head", "-c", "1000000000", "/dev/zero"],
        capture_output=True,
        check=True,
    )
    code, kept, truncated, peak_kb = json.loads(done.stdout)
    assert (code, truncated) == (0, True)
    assert kept < 8_001_000
    assert peak_kb < 200_000


def test_only_what_was_named_can_be_written(machine: Machine) -> None:
    if machine.level == "none":
        pytest.skip("without a ring nothing is held")
    build = machine.workspace / "build"
    build.mkdir()
    ended = run(machine, "echo x > build/a; echo x > b; cat .git", writable=(build,))
    assert (ended.exit_code, (build / "a").exists(), (machine.workspace / "b").exists()) == (0, True, False)


def test_a_folder_can_be_hidden_from_one_command(machine: Machine) -> None:
    if machine.level == "none":
        pytest.skip("without a ring nothing is held")
    assert run(machine, "ls plans", hidden=(machine.workspace / "plans",)).output == b""


def test_a_ring_that_does_not_come_up_is_no_failed_command(machine: Machine) -> None:
    if machine.level == "none":
        pytest.skip("there is no ring to fail")
    command = Command(argv=("true",), cwd=Path("/nowhere/at/all"))
    with pytest.raises(SandboxUnavailable, match="the sandbox did not start: bwrap: Can't chdir"):
        processes(machine).run(command)


ASK = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).status)"


@pytest.fixture
def registry() -> Iterator[int]:
    """Give the port of a small server, as a company's registry is one."""
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_setup_reaches_the_registry_that_a_package_tool_is_set_to(machine: Machine, registry: int) -> None:
    (machine.home / ".npmrc").write_text(f"registry = http://127.0.0.1:{registry}/\n")
    ended = run(machine, f"{sys.executable} -c '{ASK}' http://127.0.0.1:{registry}/", network="list")
    assert (ended.exit_code, ended.output) == (0, b"200\n")


def test_and_no_other_host_which_it_is_told_at_once(machine: Machine, registry: int) -> None:
    if machine.level != "bwrap":
        pytest.skip("only bubblewrap gives a command a network of its own")
    loopback = run(machine, f"{sys.executable} -c '{ASK}' http://127.0.0.1:{registry}/", network="list")
    named = run(machine, f"{sys.executable} -c '{ASK}' http://elsewhere.invalid/", network="list")
    assert (loopback.exit_code, named.exit_code) == (1, 1)
    assert named.output.decode().splitlines()[-2:] == [
        "asbuilt: the sandbox refused elsewhere.invalid:80: it is not on the list",
        "asbuilt: `asbuilt config set sandbox.hosts HOST` lets a host through",
    ]


def test_a_setup_reads_the_folder_of_packages_that_settings_name(machine: Machine, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "a.whl").write_text("a wheel\n")
    settings = machine.home / ".config" / "pip" / "pip.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[global]\nfind-links = {wheels}\n")
    shown, hidden = (run(machine, f"cat {wheels}/a.whl", network=one) for one in ("list", "none"))
    assert shown.output == b"a wheel\n"
    assert machine.level != "bwrap" or hidden.exit_code == 1
