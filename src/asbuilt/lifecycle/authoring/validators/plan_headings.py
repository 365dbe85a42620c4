"""Headings of a plan in the output of a stage before the draft, lookalike letters included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from asbuilt.lifecycle.authoring.validators.prose import blocks_seen, bold_names, passages, unmasked
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.plan.markdown.sections import plainly_named

_PLAN: Final = re.compile(
    r"\W*(?:the\s+)?(?:(?:implementation|proposed|execution|work)\s+)?plan\W*|\W*phase\s+[0-9]+[a-z]?\b.*",
    re.IGNORECASE,
)
"""A heading that calls its text a plan, or a phase of one."""


def plan_headings(output: str) -> Iterator[Flaw]:
    """Refuse the headings of a plan: the plan is written in a later stage."""
    visible = passages(blocks_seen(unmasked(output)))
    headings = [passage.text for passage in visible if passage.kind == "heading"]
    named = [name for name in headings if plainly_named(name) or _PLAN.fullmatch(name.strip())]
    bold = [name for name in bold_names(visible) if plainly_named(name)]
    # One bold word may be emphasis; two are the outline of a plan.
    names = [*named, *(bold if len(bold) > 1 else ())]
    if names:
        found = ", ".join(dict.fromkeys(name.strip(" *_:") for name in names))
        needed = "no heading of a plan: the plan is written in a later stage"
        yield Flaw("plan heading", found, needed, "a heading of your own, or none")
