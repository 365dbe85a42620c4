"""Which plan file Claude Code has given to a conversation: it says so in the transcript, in lines of its own.

The one rule: what the agent or a file said is never taken for it; those words stand in other kinds of lines.
"""

from __future__ import annotations

import os

from asbuilt.policy.notation import read

_LARGEST = 32 << 20
"""It is said again every few turns, so the end of a transcript is enough."""
_NAME = b'"planFilePath"'


def given_in(transcript: str) -> str:
    """Give the plan file that was named last; empty: none is."""
    data = _end_of(transcript)
    at = len(data)
    while (at := data.rfind(_NAME, 0, at)) >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        if plan := _named(data[start : end if end >= 0 else None]):
            return plan
        at = start
    return ""


def _end_of(transcript: str) -> bytes:
    try:
        file = os.open(transcript, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        os.lseek(file, max(0, os.fstat(file).st_size - _LARGEST), os.SEEK_SET)
        pieces = []
        left = _LARGEST
        while left > 0 and (piece := os.read(file, left)):
            pieces.append(piece)
            left -= len(piece)
    finally:
        os.close(file)
    return b"".join(pieces)


def _named(line: bytes) -> str:
    try:
        entry = read(line.decode())
    except ValueError:
        return ""
    if not isinstance(entry, dict) or entry.get("type") != "attachment" or entry.get("isSidechain"):
        return ""
    said = entry.get("attachment")
    if not isinstance(said, dict) or said.get("isSubAgent"):
        return ""
    kind, plan = said.get("type"), said.get("planFilePath")
    is_plan = isinstance(kind, str) and kind.startswith("plan_") and isinstance(plan, str)
    return str(plan) if is_plan else ""
