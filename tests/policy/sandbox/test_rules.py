"""The ring as it is written down for the kernel: whole command lines, profiles and rule sets."""

from __future__ import annotations

import subprocess
import sys

import pytest

from asbuilt.policy.sandbox.rules import (
    EXECUTE,
    PRIVATE_TMP,
    READ,
    WRITE_FILE,
    Request,
    bubblewrap,
    environment_in,
    for_agent,
    for_check,
    for_planning,
    landlock_rules,
    profile,
    secrets,
)
from asbuilt.policy.sandbox.variables import passed

AGENT = for_agent(
    workspace="/state/ws",
    writable=True,
    out="/state/a/out",
    home="/state/a/home",
    tmp="/state/a/tmp",
    sealed=("/state/ws/plans/login.md",),
    environment={"API_KEY": "k"},
).changed(hidden=("/state", "/home/u/.ssh"), hidden_files=("/home/u/.netrc",))


def test_an_agents_whole_command_line() -> None:
    command = bubblewrap(AGENT, ["claude", "-p"], program="/usr/bin/bwrap", status_fd=7)
    assert " ".join(command).split(" --") == [
        "/usr/bin/bwrap",
        "unshare-all",
        "unshare-user",
        "cap-drop ALL",
        "die-with-parent",
        "new-session",
        "tmpfs /",
        "dev /dev",
        "proc /proc",
        "ro-bind /proc/sys /proc/sys",
        "dir /home",
        "dir /mnt",
        "dir /root",
        "dir /run",
        "dir /srv",
        "bind /state/a/tmp /tmp",
        "tmpfs /state",
        "dir /var/tmp",
        "bind /state/ws /state/ws",
        "dir /state/a/home",
        "ro-bind /dev/null /home/u/.netrc",
        "tmpfs /home/u/.ssh",
        "bind /state/a/home /state/a/home",
        "bind /state/a/out /state/a/out",
        "ro-bind /state/ws/.git /state/ws/.git",
        "ro-bind /state/ws/plans/login.md /state/ws/plans/login.md",
        "remount-ro /state",
        "remount-ro /home/u/.ssh",
        "remount-ro /",
        "json-status-fd 7",
        "chdir /state/ws",
        " claude -p",
    ]


def test_values_of_the_environment_stand_in_no_command_line() -> None:
    assert "k" not in bubblewrap(AGENT, ["claude"], program="bwrap")
    assert environment_in(AGENT)["API_KEY"] == "k"


def test_a_verifiers_workspace_is_shown_and_not_given() -> None:
    request = for_agent(workspace="/w", writable=False, out="/o", home="/h", tmp="/t")
    assert (request.writable, request.readable, request.read_only) == (("/o", "/h"), ("/w",), ())


def test_a_check_writes_only_where_it_was_told_and_has_no_network() -> None:
    request = for_check(cwd="/w", home="/h", tmp="/t", writable=("/w/build",))
    command = bubblewrap(request, ["make"], program="bwrap")
    assert "--share-net" not in command
    assert (request.writable, request.read_only) == (("/w/build", "/h"), ("/w/build/.git",))


def test_planning_writes_nowhere() -> None:
    command = bubblewrap(for_planning(cwd="/w"), ["ls"], program="bwrap")
    assert ("--bind" in command, "--share-net" in command) == (False, False)
    assert environment_in(for_planning(cwd="/w"))["HOME"] == PRIVATE_TMP


@pytest.mark.parametrize("field", ["writable", "hidden"])
def test_the_root_is_never_given_away(field: str) -> None:
    request = Request(chdir="/").changed(**{field: ("/",)})
    with pytest.raises(ValueError, match="neither writable nor hidden"):
        bubblewrap(request, ["ls"], program="bwrap")


def test_the_environment_is_a_short_list_and_what_was_named() -> None:
    around = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "AWS_SECRET_ACCESS_KEY": "s",
        "API_KEY": "k",
        "LD_PRELOAD": "x.so",
    }
    assert passed(around, ["API_KEY"]) == {"PATH": "/bin", "LC_ALL": "C", "API_KEY": "k"}


def test_nothing_given_overrules_the_private_home() -> None:
    request = Request(chdir="/", home="/h", environment={"HOME": "/home/u", "TMPDIR": "/elsewhere"})
    assert environment_in(request)["HOME"] == "/h"
    assert environment_in(request)["TMPDIR"] == PRIVATE_TMP


def test_the_usual_secrets_are_named() -> None:
    folders, files = secrets("/home/u/")
    assert {"/home/u/.ssh", "/home/u/.aws", "/home/u/.gnupg", "/home/u/.config/gh", "/home/u/.docker"} <= set(
        folders
    )
    assert {"/home/u/.netrc", "/home/u/.git-credentials"} <= set(files)


def test_the_profile_for_macos() -> None:
    assert profile(AGENT.changed(network=False, chdir='/a"b')) == (
        """\
(version 1)
(allow default)
(deny file-write*)
(deny appleevent-send)
(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd"))
(deny mach-lookup (global-name "com.apple.coreservices.appleevents"))
(allow file-write* (literal "/dev/null"))
(allow file-write* (literal "/dev/zero"))
(allow file-write* (literal "/dev/stdout"))
(allow file-write* (literal "/dev/stderr"))
(allow file-write* (literal "/dev/tty"))
(allow file-write* (literal "/dev/dtracehelper"))
(deny network*)
(deny file-read* file-write* (subpath "/state"))
(allow file-read* file-write* (subpath "/state/ws"))
(deny file-read* file-write* (literal "/home/u/.netrc"))
(deny file-read* file-write* (subpath "/home/u/.ssh"))
(allow file-read* file-write* (subpath "/state/a/home"))
(allow file-read* file-write* (subpath "/state/a/out"))
(allow file-read* file-write* (subpath "/state/a/tmp"))
(deny file-write* (subpath "/state/ws/.git"))
(deny file-write* (subpath "/state/ws/plans/login.md"))
"""
    )


def test_a_path_cannot_break_out_of_its_quotes_in_a_profile() -> None:
    request = Request(chdir="/", writable=('/a"))(allow file-write*)(x "\\',))
    assert '(subpath "/a\\"))(allow file-write*)(x \\"\\\\")' in profile(request)


@pytest.mark.parametrize(("abi", "bits"), [(1, 13), (2, 14), (3, 15), (4, 15), (5, 16), (7, 16)])
def test_landlock_handles_every_right_that_the_kernel_knows(abi: int, bits: int) -> None:
    assert landlock_rules(for_planning(cwd="/w"), abi=abi).files == (1 << bits) - 1


def test_landlock_lets_planning_read_and_execute() -> None:
    request = for_planning(cwd="/w", readable=("/r", "/usr")).changed(links=(("/bin", "usr/bin"),))
    found = landlock_rules(request, abi=7)
    assert (found.network, found.scopes) == (0b11, 0b11)
    shown = dict(found.paths)
    assert [shown[path] for path in ("/w", "/r", "/usr", "/bin")] == [READ] * 4
    assert READ & EXECUTE
    assert [
        path for path, access in found.paths if access & WRITE_FILE and not path.startswith("/dev/")
    ] == []


def test_an_old_landlock_holds_no_network_and_says_so_by_its_data() -> None:
    found = landlock_rules(for_planning(cwd="/w"), abi=3)
    assert (found.network, found.scopes) == (0, 0)


def test_a_hook_can_load_the_gate_without_heavy_modules() -> None:
    code = (
        "import sys; bare = set(sys.modules)\n"
        "import asbuilt.policy.shell.judge\n"
        "print(*sorted(set(sys.modules) - bare))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if not name.startswith("asbuilt")} <= {"__future__"}
