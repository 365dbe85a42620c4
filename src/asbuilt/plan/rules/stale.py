"""Find sentences by which a plan says itself that it may be out of date."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.plan.markdown.blocks import Fence, Heading
from asbuilt.plan.problems import Problem, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.plan.markdown.body import Piece


_STALE: Final = re.compile(
    r"\bdrafted before\b|\bmay need (?:a )?refresh\b|\bbased on\b[^.\n]{0,200}\bdesign, not actual code\b",
    re.IGNORECASE,
)


_STALE_HINTS: Final = ("drafted before", "may need", "based on")


def stale_problems(found: Iterable[Piece]) -> list[Problem]:
    """Return a problem for each such sentence outside code and headings."""
    advice = "Refresh the phase against the code as it is now, then take the remark out."
    return [
        Problem(
            piece.line + 1 + offset,
            Severity.WARNING,
            Rule.STALE_TEXT,
            f'says "{phrase.group()}"',
            advice,
        )
        for piece in found
        if piece.part in {None, "dependencies", "design"} and not isinstance(piece.block, Heading | Fence)
        if any(hint in piece.text.casefold() for hint in _STALE_HINTS)
        for offset, text in enumerate(piece.text.split("\n"))
        for phrase in _STALE.finditer(text)
    ]
