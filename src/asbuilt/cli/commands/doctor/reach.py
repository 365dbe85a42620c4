"""Test what a process in the sandbox can reach: credentials in the home folder, and an unlisted host."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.commands import RingProcesses
from asbuilt.cli.commands.doctor.facts import ReachFacts
from asbuilt.errors import RingUnavailable
from asbuilt.policy.sandbox.rules import secrets
from asbuilt.policy.sandbox.variables import passed
from asbuilt.ports import Command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from asbuilt.settings import Settings

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
    home = Path(environ.get("HOME") or "~").expanduser()
    logins = [str(path) for path in _logins(home)][:_MOST]
    with tempfile.TemporaryDirectory(prefix="asbuilt-reach-") as name:
        processes = RingProcesses(scratch=Path(name, "scratch"), homes=(home,), environment=passed(environ))
        command = Command(
            argv=(sys.executable, "-I", "-S", "-c", _INSIDE, json.dumps(logins)),
            cwd=Path(name),
            network="list",
            timeout_s=_LIMIT_S,
        )
        try:
            output = processes.run(command).output
            read, answer = json.loads(output.splitlines()[0])
        except (RingUnavailable, ValueError, IndexError):
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
