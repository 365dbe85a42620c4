"""A failure on a page: one paragraph, and lines of the output below it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asbuilt.pages.document import Block, Code, Inline, Listing, Paragraph

if TYPE_CHECKING:
    from asbuilt.proof.failure import Failure


def failure_blocks(failure: Failure) -> Iterator[Block]:
    """Describe a failure."""
    words: list[Inline] = [f"Failed: {failure.title}"]
    words += [", ", Code(failure.command)] if failure.command else []
    words += [f", in {failure.folder}"] if failure.folder else []
    words += [f": {failure.how}"] if failure.how else []
    words.append(". ")
    words += [f"{failure.cause} "] if failure.cause else []
    words += ["Next: ", Code(failure.next_command), ". "] if failure.next_command else []
    if not failure.lines:
        yield Paragraph((*words, "It printed nothing."))
        return
    yield Paragraph((*words, "From its output:"))
    yield Listing("\n".join(failure.lines))
