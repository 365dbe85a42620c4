"""Last message of an agent, from a hook's payload or a transcript. Total: malformed lines are skipped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def last_words(payload: Mapping[str, object], transcript: Iterable[str] = ()) -> str | None:
    """Return the assistant's last message: from the payload if it has one, else from the transcript."""
    told = payload.get("last_assistant_message")
    if isinstance(told, str) and told.strip():
        return told
    words: list[str] = []
    speaker: object = None
    for line in transcript:
        message = _message(line)
        said = _text(message.get("content")) if message.get("role") == "assistant" else ""
        if said:
            # A message may span several lines, one block per line.
            same = speaker is not None and message.get("id") == speaker
            words = [*words, said] if same else [said]
            speaker = message.get("id")
    return "\n".join(words) or None


def _message(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    message = entry.get("message") if isinstance(entry, dict) else None
    return message if isinstance(message, dict) else {}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str)).strip()
