"""Read a conversation's transcript from its end backwards.

Rule: no line is trusted; a line that is too long or not JSON is skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from asbuilt.policy.light_json import read

_BLOCK: Final = 1 << 16
_LONGEST: Final = 4 << 20
"""A longer line is skipped; a model's answer is far shorter."""
_FURTHEST: Final = 64 << 20
"""Bytes read from the end. An answer further back is not found and counts as no tokens used."""
_SYNTHETIC: Final = "<synthetic>"
"""Model name of Claude Code's own messages, such as an API error; they carry no token counts."""


class Reply(NamedTuple):
    """The agent's last message in its main thread."""

    taken: int = 0
    """Input tokens: fresh, read from the cache and written to it."""
    given: int = 0
    """Output tokens."""
    model: str = ""
    text: str = ""


NOTHING: Final = Reply()


def last_reply(path: str) -> Reply:
    """Find the agent's last answer in this context; empty if the transcript is unreadable."""
    try:
        for entry in map(_entry, _backwards(path)):
            if _is_compacted(entry):
                break
            if (reply := _answer(entry)) is not None:
                return reply
    except OSError:
        pass
    return NOTHING


def size_of(path: str) -> int:
    """Return the size of a transcript in bytes; 0 if it does not exist."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def changed_at(path: str) -> float:
    """Return when a file last changed; 0 if it does not exist."""
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


def _backwards(path: str) -> Iterator[bytes | None]:
    """Yield the lines, last first; None for a line that is too long."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        end = os.fstat(file).st_size
        stop = max(0, end - _FURTHEST)
        parts: list[bytes] = []
        length = 0
        while end > stop:
            start = max(stop, end - _BLOCK)
            head, *rest = os.pread(file, end - start, start).split(b"\n")
            end = start
            if not rest:
                parts, length = _kept(parts, length, head)
                continue
            parts, length = _kept(parts, length, rest.pop())
            yield _joined(parts, length)
            yield from reversed(rest)
            parts, length = _kept([], 0, head)
        if stop == 0:
            yield _joined(parts, length)
    finally:
        os.close(file)


def _kept(parts: list[bytes], length: int, part: bytes) -> tuple[list[bytes], int]:
    """Prepend a part to a line; over the limit only the length is kept."""
    length += len(part)
    return ([*parts, part] if length <= _LONGEST else []), length


def _joined(parts: list[bytes], length: int) -> bytes | None:
    return b"".join(reversed(parts)) if length <= _LONGEST else None


def _entry(line: bytes | None) -> dict[str, object]:
    """Parse a line with usage or compaction data; every other line is an empty entry."""
    if line is None or not (b'"usage"' in line or b"ompact" in line):
        return {}
    try:
        value = read(line.decode())
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _is_compacted(entry: dict[str, object]) -> bool:
    """Return whether the conversation was compacted here; tokens used before no longer count."""
    is_boundary = entry.get("type") == "system" and entry.get("subtype") == "compact_boundary"
    return is_boundary or entry.get("isCompactSummary") is True


def _answer(entry: dict[str, object]) -> Reply | None:
    message = entry.get("message")
    if entry.get("type") != "assistant" or entry.get("isSidechain") or not isinstance(message, dict):
        return None
    usage, model = message.get("usage"), message.get("model")
    if not isinstance(usage, dict) or model == _SYNTHETIC:
        return None
    kinds = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return Reply(
        taken=sum(_count(usage.get(kind)) for kind in kinds),
        given=_count(usage.get("output_tokens")),
        model=model if isinstance(model, str) else "",
        text=_text(message.get("content")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text(content: object) -> str:
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
