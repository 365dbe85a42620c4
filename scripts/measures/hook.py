"""What the gate costs before a call of a tool: CPU of the argv that `asbuilt gate command` prints.

The one rule: it is called as Claude Code calls it, and beside what a hook costs at the very least.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.live.starting import NODE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ROUNDS: Final = 80
_NODE: Final = "process.stdin.resume().on('end', () => process.exit(0))"
_COMMAND: Final = "git log --oneline | head -3"


class Cost(NamedTuple):
    """Seconds of CPU, the median of all rounds."""

    bare_s: float
    unheld_s: float
    held_s: float
    node_s: float | None


def hook_cost() -> Cost:
    """Measure them in turns."""
    asked = [sys.executable, "-m", "asbuilt", "gate", "command", "--json"]
    argv = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)["argv"]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        environ = {"HOME": folder, "PATH": os.environ["PATH"], "CLAUDE_PID": str(os.getpid())}
        calls: dict[str, tuple[Sequence[str], bytes, Mapping[str, str]]] = {
            "bare": ([sys.executable, "-I", "-S", "-c", "pass"], b"", environ),
            # Before the other, which begins a hold: in its own state there is none.
            "unheld": (argv, _payload(home, "default"), {**environ, "ASBUILT_HOME": f"{folder}/none"}),
            "held": (argv, _payload(home, "plan"), environ),
        }
        if NODE.path.exists():
            calls["node"] = ([str(NODE.path), "-e", _NODE], _payload(home, "plan"), environ)
        found: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(_ROUNDS):
            for name, call in calls.items():
                found[name].append(_cpu_s(*call))
    middle = {name: sorted(all_s)[len(all_s) // 2] for name, all_s in found.items()}
    return Cost(middle["bare"], middle["unheld"], middle["held"], middle.get("node"))


def _payload(home: Path, mode: str) -> bytes:
    return json.dumps(
        {
            "session_id": "019d8449-c905-4065-b7a1-bc111569d157",
            "transcript_path": str(home / "none.jsonl"),
            "cwd": str(home),
            "permission_mode": mode,
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": _COMMAND, "description": "look"},
        }
    ).encode()


def _cpu_s(argv: Sequence[str], data: bytes, environ: Mapping[str, str]) -> float:
    """Run one, and give what the kernel says of that very process."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    sinks = [(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(argv[0], [*argv], environ, file_actions=sinks)
    os.close(reading)
    _, status, used = os.wait4(child, 0)
    if status != 0:
        raise RuntimeError(f"{argv} ended with {status}")
    return used.ru_utime + used.ru_stime
