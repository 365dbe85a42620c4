"""Edits as byte splices. Applying an edit returns the new bytes and the inverse edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from asbuilt.errors import PlanChanged
from asbuilt.plan.markdown.source import Span, digest, encode

if TYPE_CHECKING:
    from asbuilt.plan.markdown.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """Some bytes, and their replacement."""

    start: int
    old: bytes
    new: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Disjoint splices in order, bound to the digest of the bytes they apply to."""

    base: str
    splices: tuple[Splice, ...]

    def apply(self, data: bytes) -> tuple[bytes, Edit]:
        """Return the edited bytes and the inverse edit; raise `PlanChanged` if `data` is not the base."""
        if digest(data) != self.base:
            raise PlanChanged(
                "the plan was changed since it was read",
                why="Somebody else's text would be lost; nothing was written.",
                next_step="Run the same command again; it reads the plan anew.",
            )
        parts: list[bytes] = []
        inverse: list[Splice] = []
        at = 0
        shift = 0
        for splice in self.splices:
            end = splice.start + len(splice.old)
            parts += (data[at : splice.start], splice.new)
            inverse.append(Splice(start=splice.start + shift, old=splice.new, new=splice.old))
            shift += len(splice.new) - len(splice.old)
            at = end
        parts.append(data[at:])
        after = b"".join(parts)
        return after, Edit(base=digest(after), splices=tuple(inverse))


class Splicer:
    """Collects the replacements of one edit in characters, and converts them to bytes."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._wanted: list[tuple[Span, str]] = []

    def replace(self, span: Span, text: str) -> None:
        """Replace a span with `text`; an empty span is an insertion."""
        if self._source.text[span.start : span.end] != text:
            self._wanted.append((span, text))

    def edit(self) -> Edit:
        """Return the edit. Replacements of the same span keep the order in which they were added."""
        source = self._source
        splices: list[Splice] = []
        at, byte = 0, source.bom
        for span, text in sorted(self._wanted, key=lambda wanted: wanted[0]):
            byte += len(source.slice(Span(at, span.start)))
            at = span.start
            splices.append(Splice(start=byte, old=source.slice(span), new=encode(text)))
        return Edit(base=digest(source.data), splices=tuple(splices))
