"""Probe the machine: the sandbox and what is reachable from inside, sleep, and the clock."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import structs

from asbuilt.agents.sandbox.launch import probe
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.agents.sleep_inhibitor import awake
from asbuilt.cli.commands.doctor.facts import ClockFacts, PowerFacts, ReachFacts, SandboxFacts
from asbuilt.errors import SandboxUnavailable
from asbuilt.policy.sandbox.rules import secrets
from asbuilt.policy.sandbox.variables import passed
from asbuilt.ports import Command
from asbuilt.settings import Settings
from asbuilt.settings.user_folders import home_of

_ASK_TIMEOUT_S: Final = 3
_AT_ONCE_S: Final = 0.1
_SUPPLIES: Final = Path("/sys/class/power_supply")
_LOGIND: Final = (
    "busctl get-property org.freedesktop.login1 /org/freedesktop/login1"
    " org.freedesktop.login1.Manager IdleAction"
).split()
_SLEEPS: Final = frozenset({"sleep", "suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate"})


class Moment(NamedTuple):
    """The two clocks of a machine, read together."""

    wall_s: float
    monotonic_s: float


def look_at_sandbox(*, required: bool) -> SandboxFacts:
    """Test the sandbox: it must refuse a write and a connection now."""
    probed = probe()
    return SandboxFacts(
        level=probed.level, version=probed.version, refusals=probed.reasons, required=required
    )


def look_at_power(*, inhibit: bool) -> PowerFacts | None:
    """Test what keeps this machine awake if it sleeps when idle; None: the system does not report that."""
    power = _sleep()
    if power is None or not power.sleeps or not inhibit:
        return power
    with awake() as held_by:
        return structs.replace(power, held_by=held_by)


def _sleep() -> PowerFacts | None:
    if sys.platform == "darwin":
        sleeps = sleeps_by_pmset(_asked(("pmset", "-g")))
        return None if sleeps is None else PowerFacts(sleeps=sleeps, source="pmset")
    supplies = [path for path in _SUPPLIES.glob("*") if _line(path / "scope") != "Device"]
    if "Battery" not in [_line(supply / "type") for supply in supplies]:
        return None
    sleeps = sleeps_by_logind(_asked(_LOGIND))
    return None if sleeps is None else PowerFacts(sleeps=sleeps, source="logind")


def sleeps_by_logind(output: str) -> bool | None:
    """Parse logind's idle action, as busctl prints it."""
    action = re.fullmatch(r's "([a-z-]+)"', output.strip())
    return action[1] in _SLEEPS if action else None


def sleeps_by_pmset(output: str) -> bool | None:
    """Parse pmset's sleep time in minutes; 0 is never."""
    minutes = re.search(r"^\s*sleep\s+(\d+)", output, re.MULTILINE)
    return int(minutes[1]) > 0 if minutes else None


def moment() -> Moment:
    """Read both clocks within 0.1 s; repeat if the process was interrupted in between."""
    while True:
        before_s, wall_s = time.monotonic(), time.time()
        if time.monotonic() - before_s < _AT_ONCE_S:
            return Moment(wall_s=wall_s, monotonic_s=before_s)


def look_at_clock(began: Moment) -> ClockFacts | None:
    """Compare the clock with a new file's time, with our own files' times and with the monotonic clock."""
    try:
        with tempfile.TemporaryFile() as file:
            file.write(b"tick")
            file.flush()
            ahead_s = time.time() - os.fstat(file.fileno()).st_mtime
        installed_s = Path(__file__).stat().st_mtime
    except OSError:
        return None
    now = moment()
    passed_s = now.monotonic_s - began.monotonic_s
    return ClockFacts(
        ahead_of_disk_s=round(ahead_s, 1),
        behind_us_s=round(max(0.0, installed_s - now.wall_s), 1),
        jumped_s=round(now.wall_s - began.wall_s - passed_s, 1),
    )


def _line(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _asked(argv: Sequence[str]) -> str:
    program = shutil.which(argv[0])
    if program is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed question to the system's own program
            [program, *argv[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


_AGENTS: Final = (
    *(".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json"),
    ".local/share/opencode/auth.json",
)
_MOST: Final = 500
_LIMIT_S: Final = 30
_FORBIDDEN: Final = 403
_INSIDE: Final = """\
import json, os, sys, urllib.error, urllib.request
read = 0
for path in json.loads(sys.argv[1]):
    try:
        with open(path, "rb") as file:
            read += bool(file.read(1))
    except OSError:
        pass
try:
    urllib.request.urlopen("http://not-on-the-list.invalid/", timeout=5)
    answer = 200
except urllib.error.HTTPError as error:
    answer = error.code
except OSError:
    answer = 0
print(json.dumps([read, answer]))
"""


def look_at_reach(environ: Mapping[str, str], settings: Settings) -> ReachFacts | None:
    """Read every credential file and connect to an unlisted host, in a sandbox; None: could not be tested."""
    home = home_of(environ)
    logins = [str(path) for path in _logins(home)][:_MOST]
    with tempfile.TemporaryDirectory(prefix="asbuilt-reach-") as name:
        processes = SandboxProcesses(
            scratch=Path(name, "scratch"), homes=(home,), environment=passed(environ)
        )
        command = Command(
            argv=(sys.executable, "-I", "-S", "-c", _INSIDE, json.dumps(logins)),
            cwd=Path(name),
            network="list",
            timeout_s=_LIMIT_S,
        )
        try:
            output = processes.run(command).output
            read, answer = json.loads(output.splitlines()[0])
        except (SandboxUnavailable, ValueError, IndexError):
            return None
    return ReachFacts(
        logins=len(logins),
        readable=int(read),
        refuses=answer == _FORBIDDEN,
        network=settings.text("sandbox.network"),
        setup=settings.text("sandbox.setup"),
    )


def _logins(home: Path) -> Iterator[Path]:
    folders, files = secrets(str(home))
    for path in (*map(Path, files), *(home / name for name in _AGENTS)):
        if path.is_file():
            yield path
    for folder in map(Path, folders):
        yield from (path for path in folder.glob("*") if path.is_file())
