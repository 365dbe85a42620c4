"""An edit as byte splices. Applying one gives the new bytes and the edit that takes it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from asbuilt.errors import PlanChanged
from asbuilt.plan.markdown.source import Span, digest, encode

if TYPE_CHECKING:
    from asbuilt.plan.markdown.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """Some bytes that take the place of others."""

    start: int
    old: bytes
    new: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Disjoint splices in order, bound to the bytes they were made for."""

    base: str
    splices: tuple[Splice, ...]

    def apply(self, data: bytes) -> tuple[bytes, Edit]:
        """Return the edited bytes, and the inverse edit."""
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
    """Collects the replacements of one edit, in characters, and turns them into bytes."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._wanted: list[tuple[Span, str]] = []

    def replace(self, span: Span, text: str) -> None:
        """Put `text` in the place of a span; an empty span is an insertion."""
        if self._source.text[span.start : span.end] != text:
            self._wanted.append((span, text))

    def edit(self) -> Edit:
        """Return the edit; replacements of one place keep the order in which they were given."""
        source = self._source
        splices: list[Splice] = []
        at, byte = 0, source.bom
        for span, text in sorted(self._wanted, key=lambda wanted: wanted[0]):
            byte += len(source.slice(Span(at, span.start)))
            at = span.start
            splices.append(Splice(start=byte, old=source.slice(span), new=encode(text)))
        return Edit(base=digest(source.data), splices=tuple(splices))
