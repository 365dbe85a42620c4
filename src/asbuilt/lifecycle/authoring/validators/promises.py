"""The promise by which an agent says that its plan is complete. A claim only: what it claims is looked at."""

from __future__ import annotations

import re
from typing import Final

from asbuilt.lifecycle.authoring.validators.prose import outside_code, unmasked
from asbuilt.lifecycle.flaws import Flaw

# A tag that is only opened must not swallow the plan up to the next one.
_TAG: Final = re.compile(r"<promise>((?:(?!</?promise>).){0,1000}?)</promise>", re.DOTALL)
_ANY: Final = re.compile(r"<\s*/?\s*promise\b", re.IGNORECASE)


def promise_tag(value: str) -> str:
    """Write a promise as an agent has to."""
    return f"<promise>{value}</promise>"


def is_promised(text: str, value: str) -> bool:
    """Tell whether a text makes this promise; white space is put in order, everything else is exact."""
    return _ordered(value) in map(_ordered, _promises(text))


def without_promises(text: str) -> str:
    """Take the promises out of a plan, for the file that people read."""
    kept, end = [], 0
    for tag in _TAG.finditer(outside_code(text)):
        kept.append(text[end : tag.start()])
        end = tag.end()
    return "".join([*kept, text[end:]]).strip() + "\n"


def too_early(text: str) -> tuple[Flaw, ...]:
    """Refuse a promise, in whatever letters, in a stage that does not finish."""
    if not _ANY.search(unmasked(outside_code(text))):
        return ()
    needed = "no promise before the last revision"
    return (Flaw("promise", "a promise tag", needed, "end the output with its last sentence"),)


def not_made(text: str, value: str) -> tuple[Flaw, ...]:
    """Miss the promise that finishes."""
    if is_promised(text, value):
        return ()
    others = [promise_tag(_ordered(other)) for other in _promises(text)]
    found = ", ".join(others) if others else "no promise tag outside code and comments"
    return (Flaw("no promise", found, f"{promise_tag(value)} after the plan", promise_tag(value)),)


def _promises(text: str) -> list[str]:
    return _TAG.findall(outside_code(text))


def _ordered(value: str) -> str:
    return " ".join(value.split())
