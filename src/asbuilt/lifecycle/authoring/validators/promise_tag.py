"""The promise: a tag by which an agent claims that its plan is complete. The validators check the claim."""

from __future__ import annotations

import re
from typing import Final

from asbuilt.lifecycle.authoring.validators.prose import outside_code, unmasked
from asbuilt.lifecycle.flaws import Flaw

# An unclosed tag must not match up to the next tag.
_TAG: Final = re.compile(r"<promise>((?:(?!</?promise>).){0,1000}?)</promise>", re.DOTALL)
_ANY: Final = re.compile(r"<\s*/?\s*promise\b", re.IGNORECASE)


def promise_tag(value: str) -> str:
    """Return a promise as an agent has to write it."""
    return f"<promise>{value}</promise>"


def is_promised(text: str, value: str) -> bool:
    """Return whether a text makes this promise. Whitespace is normalized; the rest must match exactly."""
    return _ordered(value) in map(_ordered, _promises(text))


def without_promises(text: str) -> str:
    """Remove the promises from a plan before it is saved."""
    kept, end = [], 0
    for tag in _TAG.finditer(outside_code(text)):
        kept.append(text[end : tag.start()])
        end = tag.end()
    return "".join([*kept, text[end:]]).strip() + "\n"


def too_early(text: str) -> tuple[Flaw, ...]:
    """Refuse a promise in a stage that does not finish, lookalike letters included."""
    if not _ANY.search(unmasked(outside_code(text))):
        return ()
    needed = "no promise before the last revision"
    return (Flaw("promise", "a promise tag", needed, "end the output with its last sentence"),)


def not_made(text: str, value: str) -> tuple[Flaw, ...]:
    """Refuse an output without the promise that finishes."""
    if is_promised(text, value):
        return ()
    others = [promise_tag(_ordered(other)) for other in _promises(text)]
    found = ", ".join(others) if others else "no promise tag outside code and comments"
    return (Flaw("no promise", found, f"{promise_tag(value)} after the plan", promise_tag(value)),)


def _promises(text: str) -> list[str]:
    return _TAG.findall(outside_code(text))


def _ordered(value: str) -> str:
    return " ".join(value.split())
