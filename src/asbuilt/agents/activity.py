"""Read the state of an attempt from its folder. Read-only; loads no host, adapter or sandbox code."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

_TEXT: Final = 1_000
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+")


class Signs(NamedTuple):
    """What an agent has done so far, as its host recorded it."""

    last_activity_at: str | None = None
    """Time of the last event; None before the first event."""
    tool_calls: int = 0
    last_call: str = ""
    last_call_at: str | None = None
    starts: int = 0
    is_alive: bool = False
    refused: tuple[str, ...] = ()
    """Hosts that the sandbox refused, each with the reason."""


class Deed(NamedTuple):
    """One thing that an agent did or said."""

    what: Literal["ran", "said", "noted", "allowed", "refused"]
    text: str
    """At most 1,000 characters."""


def deed_of(event: Mapping[str, object]) -> Deed | None:
    """Return what an agent's event shows; None if it shows no activity."""
    match event:
        case {"kind": "called", "tool": str(tool), "detail": str(detail)}:
            return Deed("ran", f"{tool} {detail}".strip()[:_TEXT])
        case {"kind": "said" | "noted" as kind, "text": str(text)}:
            return Deed("said" if kind == "said" else "noted", text[:_TEXT])
        case {"kind": "asked", "call": str(call), "allowed": bool(allowed)}:
            return Deed("allowed" if allowed else "refused", call[:_TEXT])
        case _:
            return None


def folder_of(state: Path, attempt: str) -> Path:
    """Return the folder of an attempt's files."""
    if not _NAME.fullmatch(attempt):
        raise ValueError(f"not the address of an attempt: {attempt!r}")
    return state / "runs" / attempt.partition(".")[0] / "attempts" / attempt


def signs_of(folder: Path) -> Signs:
    """Summarize the activity of an attempt; all fields keep their defaults if it was never started."""
    active_at = last_activity(folder)
    events = read_events(folder / "events.jsonl", 0)[0]
    calls = [event for event in events if event["kind"] == "called"]
    last = calls[-1] if calls else {}
    return Signs(
        last_activity_at=None if active_at is None else active_at.isoformat(),
        tool_calls=len(calls),
        last_call=" ".join(str(last.get(name) or "") for name in ("tool", "detail")).strip(),
        last_call_at=str(last["at"]) if "at" in last else None,
        starts=starts_of(folder),
        is_alive=is_alive(folder),
        refused=tuple(str(event.get("told", "")) for event in events if event["kind"] == "refused"),
    )


def models_of(folder: Path) -> list[str]:
    """List the models that the agent of an attempt has reported."""
    events = read_events(folder / "events.jsonl", 0)[0]
    return [model for event in events if isinstance(model := event.get("model"), str) and model]


def last_activity(folder: Path) -> datetime | None:
    """Return when the agent last produced an event: the modification time of events.jsonl."""
    try:
        return datetime.fromtimestamp((folder / "events.jsonl").stat().st_mtime, UTC)
    except FileNotFoundError:
        return None


def starts_of(folder: Path) -> int:
    """Count the starts of an attempt."""
    try:
        return (folder / "starts").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def is_alive(folder: Path) -> bool:
    """Return whether the host process is running, by its lock. A recorded PID could have been reused."""
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def read_events(file: Path, after: int) -> tuple[list[dict[str, object]], int]:
    """Read complete lines from offset `after`; return the events and the next offset. Skips invalid lines."""
    try:
        with file.open("rb") as opened:
            opened.seek(after)
            content = opened.read()
    except FileNotFoundError:
        return [], after
    whole = content[: content.rfind(b"\n") + 1]
    found = []
    for line in whole.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and isinstance(event.get("kind"), str):
            found.append(event)
    return found, after + len(whole)
