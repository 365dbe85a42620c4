"""Pieces of a section, each with its subsection: `### Tasks` and `**Tasks:**` are equivalent."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt.plan.markdown.blocks import Fence, Heading, Item, Paragraph
from asbuilt.plan.markdown.sections import TRANSLATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from asbuilt.plan.markdown.blocks import Block

Part = Literal[
    "work", "criteria", "design", "verify", "commands", "dependencies", "execution", "log", "status"
]

_PARTS: Final[dict[str, Part]] = {
    **dict.fromkeys(("work items", "tasks", "steps", "todo", "to do", "task list", "implementation steps"),
    "work"),
    **dict.fromkeys(TRANSLATIONS["Steps"], "work"),
    **dict.fromkeys(
        ("acceptance criteria", "success criteria", "done when", "definition of done", "acceptance",
        "exit criteria"),
        "criteria",
    ),
    **dict.fromkeys(("design & constraints", "design and constraints", "design", "constraints"), "design"),
    **dict.fromkeys(
        (
            "verification", "validation", "testing", "testing & validation", "testing and validation",
            "verify", "test plan", "checks",
        ),
        "verify",
    ),
    **dict.fromkeys(TRANSLATIONS["Verification"], "verify"),
    "validation commands": "commands",
    "verification commands": "commands",
    **dict.fromkeys(("dependencies", "depends on", "dependency", "prerequisites", "blocked by"),
    "dependencies"),
    "execution": "execution",
    "status": "status",
    **dict.fromkeys(("progress log", "log", "changelog", "history", "notes", "risks", "open questions"),
    "log"),
}  # fmt: skip
_ONE_LINE: Final = frozenset({"dependencies", "execution"})
_NAME: Final = re.compile(r"[^\W\d](?:.*\w)?", re.DOTALL)
_LABEL: Final = re.compile(
    r"(?:\*\*|__)\s*+([^*_\n]{1,60}?)\s*+(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:)\s*(.*)", re.DOTALL
)
_PLAIN_LABEL: Final = re.compile(
    r"(depends on|dependencies|execution|status)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL
)


class Piece(NamedTuple):
    """A paragraph line, a list item, a fence or a heading, and its part of the section."""

    part: Part | None
    line: int
    text: str
    """Text without the label that names the part."""
    block: Block


@lru_cache(maxsize=256)
def part_of(name: str) -> Part | None:
    """Return the part of a phase that a subsection's name announces; cached, because names repeat."""
    told = _NAME.search(name)
    return None if told is None else _PARTS.get(" ".join(told.group().casefold().split()))


def label_of(text: str) -> tuple[str, str] | None:
    """Split `**Label:** rest`; a few labels are also accepted without emphasis."""
    found = _LABEL.match(text) or _PLAIN_LABEL.match(text)
    return (found.group(1), found.group(2)) if found else None


def pieces(blocks: Sequence[Block]) -> Iterator[Piece]:
    """Yield a section's pieces in order. A heading's part applies to the deeper headings under it."""
    stack: list[tuple[int, Part | None]] = []
    labelled: Part | None = None
    for block in blocks:
        if isinstance(block, Heading):
            while stack and stack[-1][0] >= block.level:
                stack.pop()
            name, _, rest = block.text.partition(":")
            part = part_of(name) or (stack[-1][1] if stack else None)
            stack.append((block.level, part))
            labelled = None
            yield Piece(part, block.line, rest.strip(), block)
            continue
        here = labelled or (stack[-1][1] if stack else None)
        if isinstance(block, Paragraph):
            for offset, line in enumerate(block.text.split("\n")):
                label = label_of(line)
                if label is None:
                    yield Piece(labelled or here, block.line + offset, line, block)
                    continue
                part = part_of(label[0])
                # `Depends on: 1` ends with its line; so does a status, even an empty one.
                if part != "status" and (part not in _ONE_LINE or not label[1].strip()):
                    labelled = part
                    here = labelled or (stack[-1][1] if stack else None)
                yield Piece(part or here, block.line + offset, label[1], block)
        elif isinstance(block, Item):
            label = label_of(block.text) if block.box is None else None
            part = part_of(label[0]) if label is not None else None
            if label is not None and part is not None:
                yield Piece(part, block.line, label[1], block)
            else:
                yield Piece(here, block.line, block.text, block)
        elif isinstance(block, Fence):
            yield Piece(here, block.line, block.content, block)
