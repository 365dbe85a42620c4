"""Read what a conversation has written down of itself, from its end backwards.

The one rule: no line is trusted and none is kept: what is too long or no JSON is passed over and counted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.policy.notation import read

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK: Final = 1 << 16
_LONGEST: Final = 4 << 20
"""A longer line is passed over; an answer of a model is far shorter."""
_FURTHEST: Final = 64 << 20
"""How far back anybody looks: behind it nothing is told, and nothing told counts as nothing used."""
_SYNTHETIC: Final = "<synthetic>"
"""What Claude Code calls the model of its own words, as on an error of the API; they carry no figures."""


class Said(NamedTuple):
    """The last that the agent itself said in its main thread."""

    taken: int = 0
    """Tokens that went in: fresh, read from the cache and written to it."""
    given: int = 0
    """Tokens that came out."""
    model: str = ""
    text: str = ""
    passed_over: int = 0
    """Lines that could not be read on the way."""


NOTHING: Final = Said()


def last_said(path: str) -> Said:
    """Find the agent's last answer of this context; of a transcript that cannot be read: nothing."""
    passed_over = 0
    try:
        for line in _backwards(path):
            entry = _entry(line)
            if entry is None:
                passed_over += 1
            elif _begins_anew(entry):
                break
            elif (said := _answer(entry)) is not None:
                return said._replace(passed_over=passed_over)
    except OSError:
        return NOTHING
    return Said(passed_over=passed_over)


def size_of(path: str) -> int:
    """Tell how long a transcript is; 0 when there is none."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def _backwards(path: str) -> Iterator[bytes | None]:
    """Give the lines, the last one first; None in place of one that is too long."""
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
    """Put a part before others, unless they are too long together: then only their length is kept."""
    length += len(part)
    return ([*parts, part] if length <= _LONGEST else []), length


def _joined(parts: list[bytes], length: int) -> bytes | None:
    return b"".join(reversed(parts)) if length <= _LONGEST else None


def _entry(line: bytes | None) -> dict[str, object] | None:
    """Read a line; what nobody here needs is not parsed."""
    if line is None:
        return None
    if not line.strip() or not (b'"usage"' in line or b"ompact" in line):
        return {}
    try:
        value = read(line.decode())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _begins_anew(entry: dict[str, object]) -> bool:
    """Tell whether the conversation was compacted here: what was used before it is used no more."""
    is_boundary = entry.get("type") == "system" and entry.get("subtype") == "compact_boundary"
    return is_boundary or entry.get("isCompactSummary") is True


def _answer(entry: dict[str, object]) -> Said | None:
    message = entry.get("message")
    if entry.get("type") != "assistant" or entry.get("isSidechain") or not isinstance(message, dict):
        return None
    usage, model = message.get("usage"), message.get("model")
    if not isinstance(usage, dict) or model == _SYNTHETIC:
        return None
    kinds = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return Said(
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
