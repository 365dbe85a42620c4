"""Phases of a plan in prose, by the order of its steps or sentences.

Rule: the file states no status of such a phase, so none is read as done.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.plan.markdown.blocks import Heading, Item, Paragraph
from asbuilt.plan.markdown.sections import TRANSLATIONS
from asbuilt.plan.markdown.source import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.plan.markdown.blocks import Block
    from asbuilt.plan.markdown.source import Source

_SEQUENCE: Final = re.compile(
    r"(?:(?<=^)|(?<=\n)|(?<=[.!?]\s))[ \t]*"
    r"(?:first(?:ly| of all)?|second(?:ly)?|third(?:ly)?|fourth|fifth|to begin with|to start|then|next"
    r"|after that|after this|afterwards?|subsequently|finally|last(?:ly)?|in the end|at the end)\b[\s,:]*",
    re.IGNORECASE,
)
_STEPS: Final = frozenset(
    {
        "steps",
        "plan",
        "the plan",
        "tasks",
        "phases",
        "implementation",
        "implementation steps",
        "implementation plan",
        "approach",
        *TRANSLATIONS["Steps"],
    }
)
_TITLE: Final = 60


class Told(NamedTuple):
    """A phase in prose: its span, and a title from its first sentence."""

    id: str
    title: str
    span: Span


def tell(source: Source, blocks: Sequence[Block]) -> list[Told]:
    """Find phases in an ordered list under Steps, or in sentences that start with a sequence word."""
    return _ordered(source, blocks) or _sequence(source, blocks)


def _ordered(source: Source, blocks: Sequence[Block]) -> list[Told]:
    headed = any(isinstance(block, Heading) and block.level > 1 for block in blocks)
    steps = not headed
    found: list[Told] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level > 1:
            name = block.text.strip(" #*_:").casefold()
            steps = re.sub(r"^[\W\d]+", "", name) in _STEPS
        elif steps and isinstance(block, Item) and block.number and block.depth == 0:
            number = str(len(found) + 1)
            found.append(Told(number, title_of(block.text), source.span(block.line, block.after)))
    return found


def _sequence(source: Source, blocks: Sequence[Block]) -> list[Told]:
    starts: list[tuple[int, int]] = []
    end = 0
    for block in blocks:
        if isinstance(block, Paragraph) and not block.nested:
            region = source.span(block.line, block.after)
            end = region.end
            # The pattern runs on the file's own text, so that offsets stay valid.
            text = source.text[region.start : region.end].replace("\r", "\n")
            starts.extend(
                (region.start + word.start(), region.start + word.end()) for word in _SEQUENCE.finditer(text)
            )
    headings = [source.starts[block.line] for block in blocks if isinstance(block, Heading)]
    found: list[Told] = []
    for at, (start, after) in enumerate(starts):
        stop = starts[at + 1][0] if at + 1 < len(starts) else end
        heading = bisect_right(headings, start)
        if heading < len(headings):
            stop = min(stop, headings[heading])
        found.append(Told(str(at + 1), title_of(source.text[after:stop]), Span(start, stop)))
    return found


def title_of(text: str) -> str:
    """Make a title of at most 60 characters from a sentence, cut at the end of a word."""
    sentence = re.split(r"(?<=[^\s.])[.;](?:\s|$)", " ".join(text.split()), maxsplit=1)[0].strip(" *_")
    if len(sentence) <= _TITLE:
        return sentence
    cut = sentence[: _TITLE + 1].rfind(" ")
    return sentence[: cut if cut > 0 else _TITLE] + "…"
