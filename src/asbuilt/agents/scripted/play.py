"""The scripted agent's process: reads its acts from stdin and performs them in order, in the sandbox.

Standard library only, run by its path. Writes to stdout, one JSON object per line.

Rule: an act that the system refuses is reported and skipped, as a real agent's failed tool call.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_OUTPUT_CAP: Final = 4_000
_PIECE: Final = 1 << 16
_WHY: Final = "as the script says"
_FILE_ACTS: Final = ("write", "append", "replace", "delete", "move", "read", "run", "spawn")


class Player:
    """Performs acts; an act with `when` depends on the gate's last answer."""

    def __init__(self, out: Path, part: dict[str, Any]) -> None:
        self._out = out
        self._part = part
        self._answer = ""

    def play(self, act: dict[str, Any]) -> None:
        """Perform an act."""
        if act.get("when", self._answer) != self._answer:
            return
        kind = next(key for key in act if key != "when" and hasattr(self, f"_do_{key}"))
        if kind in _FILE_ACTS:
            _write(called=kind, detail=str(act[kind]))
        do: Callable[[dict[str, Any]], None] = getattr(self, f"_do_{kind}")
        try:
            do(act)
        except (OSError, UnicodeDecodeError) as error:
            _write(noted=f"{kind} {act[kind]}: {getattr(error, 'strerror', None) or error}")

    def _do_write(self, act: dict[str, Any]) -> None:
        file = Path(act["write"])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(act["text"], encoding="utf-8")
        if "mode" in act:
            file.chmod(int(act["mode"], 8))

    def _do_append(self, act: dict[str, Any]) -> None:
        with Path(act["append"]).open("a", encoding="utf-8") as file:
            file.write(act["text"])

    def _do_replace(self, act: dict[str, Any]) -> None:
        file = Path(act["replace"])
        text = file.read_text(encoding="utf-8")
        if act["old"] not in text:
            _write(noted=f"replace {file}: the text is not there")
        file.write_text(text.replace(act["old"], act["new"], 1), encoding="utf-8")

    def _do_delete(self, act: dict[str, Any]) -> None:
        path = Path(act["delete"])
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def _do_move(self, act: dict[str, Any]) -> None:
        Path(act["move"]).rename(act["to"])

    def _do_read(self, act: dict[str, Any]) -> None:
        text = Path(act["read"]).read_bytes()[:_OUTPUT_CAP].decode("utf-8", "backslashreplace")
        _write(say=f"{act['read']}: {text}")

    def _do_run(self, act: dict[str, Any]) -> None:
        done = subprocess.run(  # noqa: S603  running what the script says is its purpose
            _argv(act["run"]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        output = done.stdout[-_OUTPUT_CAP:].decode("utf-8", "backslashreplace")
        _write(say=f"exit {done.returncode}: {output}")

    def _do_spawn(self, act: dict[str, Any]) -> None:
        subprocess.Popen(  # noqa: S603  the same
            _argv(act["spawn"]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _do_say(self, act: dict[str, Any]) -> None:
        _write(say=act["say"])

    def _do_session(self, act: dict[str, Any]) -> None:
        _write(session=act["session"])

    def _do_sleep(self, act: dict[str, Any]) -> None:
        time.sleep(act["sleep"])

    def _do_hang(self, _: dict[str, Any]) -> None:
        while True:
            time.sleep(3600)

    def _do_ignore_term(self, _: dict[str, Any]) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def _do_flood(self, act: dict[str, Any]) -> None:
        stream = sys.stderr if act.get("stream") == "stderr" else sys.stdout
        piece = b"x" * (_PIECE - 1) + (b"\n" if act.get("lines") else b"x")
        left = act["flood"]
        while left > 0:
            left -= stream.buffer.write(piece[:left])
        stream.buffer.flush()

    def _do_exit(self, act: dict[str, Any]) -> None:
        os._exit(act["exit"])

    def _do_signal(self, act: dict[str, Any]) -> None:
        number = signal.Signals[f"SIG{act['signal']}"]
        if number is not signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _do_kill_host(self, _: dict[str, Any]) -> None:
        _write(kill_host=True)
        self._do_hang({})

    def _do_fail(self, act: dict[str, Any]) -> None:
        _write(fail=act["fail"], cause=act.get("cause"))

    def _do_ask(self, act: dict[str, Any]) -> None:
        _write(**{key: act[key] for key in ("ask", "path", "command") if key in act})
        answer = json.loads(sys.stdin.readline() or '{"allowed": false, "reason": "nobody answers"}')
        self._answer = "allowed" if answer["allowed"] else "denied"
        _write(say=f"{self._answer}: {answer['reason']}".rstrip(": "))

    def _do_usage(self, act: dict[str, Any]) -> None:
        _write(usage=act["usage"], output=act.get("output", 0), cost_usd=act.get("cost_usd"))

    def _do_limit(self, act: dict[str, Any]) -> None:
        _write(limit=act["limit"])
        sys.exit(0)

    def _do_verdict(self, act: dict[str, Any]) -> None:
        rows = act.get("entries", []) if act["verdict"] == "each" else self._entries(act)
        verdict = {"intent": act.get("intent", self._part["intent"]), "items": rows}
        temporary = self._out / ".verdict"
        temporary.write_text(json.dumps(verdict), encoding="utf-8")
        temporary.replace(self._out / "verdict.json")

    def _entries(self, act: dict[str, Any]) -> list[dict[str, Any]]:
        items = self._part["items"]
        named = act.get("items", list(range(1, len(items) + 1)))
        word, other = ("PASS", "FAIL") if act["verdict"] == "pass" else ("FAIL", "PASS")
        rows = []
        for item, text in enumerate(items, 1):
            is_named = item in named
            # A pass with `items` judges only these; items without a verdict do not pass.
            if not is_named and act["verdict"] == "pass":
                continue
            why = act.get("why", _WHY) if is_named else _WHY
            evidence = act.get("evidence", self._evidence(text))
            rows.append(
                {"item": item, "outcome": word if is_named else other, "why": why, "evidence": evidence}
            )
        return rows

    def _evidence(self, text: str) -> list[dict[str, Any]]:
        """Cite a changed file, preferably one that the item names, else a removed file, else a check."""
        changed, removed, shown = (self._part[name] for name in ("changed", "removed", "shown"))
        for path in sorted(changed, key=lambda path: path not in text):
            try:
                content = Path(path).read_bytes()
            except OSError:
                continue
            return [{"file": path, "line": 1} if content and b"\0" not in content else {"file": path}]
        if removed:
            return [{"removed": removed[0]}]
        return [{"check": check} for check in shown[-1:]]

    def _do_drift(self, act: dict[str, Any]) -> None:
        _write(
            say=f"PLAN-TEXT-DRIFT: phase={self._part['phase']} bullet={act['bullet']} field={act['drift']} "
            f"plan={act['plan']} actual={act['actual']}"
        )


def _argv(command: str | list[str]) -> list[str]:
    return ["/bin/sh", "-c", command] if isinstance(command, str) else command


def _write(**message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Read the brief and the acts from stdin, and play them."""
    part = json.loads(sys.stdin.readline())
    player = Player(Path(sys.argv[1]), part)
    for act in part["acts"]:
        player.play(act)
    return 0


if __name__ == "__main__":
    sys.exit(main())
