"""Positions in a plan by phase and text, so that they survive moved lines.

Rule: line numbers are only for display. Positions are never compared by line number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from asbuilt.lifecycle.similarity import alike, words
from asbuilt.plan.markdown.blocks import Block, Fence, Heading, Item, Paragraph, Table, parse
from asbuilt.plan.model import Plan
from asbuilt.plan.reader import read

_SECTION: Final = 2
"""Level of the headings that divide the text outside the phases."""
_ALIKE: Final = 0.5
_NAMED: Final = 0.75
"""Minimum weight of the words that select a piece, where the critic cited its whole phase."""
_MISPLACED: Final = 1.25
"""Minimum weight to prefer another piece to the cited line: more than one word that is unique to it."""
_CLEAR: Final = 0.25
"""Minimum lead over every other piece."""


class Anchor(NamedTuple):
    """A position that survives a revision: a phase or section, an item in it, or a file."""

    phase: str = ""
    item: str = ""
    """Text of the item; empty for a whole phase."""
    file: str = ""
    line: int = 0
    """Line in the revision that it was read from, for display."""


class Piece(NamedTuple):
    """The smallest unit that can be cited: a heading, an item, a paragraph, a row or a line of code."""

    line: int
    """1-based."""
    phase: str
    text: str
    is_heading: bool = False

    @property
    def anchor(self) -> Anchor:
        """Return its position; a heading represents its whole phase."""
        return Anchor(self.phase, "" if self.is_heading else self.text, line=self.line)


class Outline:
    """The pieces of one revision, in order."""

    def __init__(self, text: str) -> None:
        self.plan = read(text.encode("utf-8", "surrogateescape"))
        self.lines: Sequence[str] = self.plan.source.lines
        self.titles = {phase.id: phase.title for phase in self.plan.phases}
        blocks = parse(self.lines, self.plan.front.after)
        self.headings = tuple(block for block in blocks if isinstance(block, Heading))
        self.pieces = tuple(_pieces(self.plan, blocks))
        self._starts = [piece.line for piece in self.pieces]

    def at(self, line: int) -> Piece | None:
        """Return the piece of a 1-based line. A blank line belongs to the piece above it."""
        found = bisect_right(self._starts, line) - 1
        return self.pieces[found] if found >= 0 else None

    def of(self, phase: str) -> tuple[Piece, ...]:
        """List the pieces of a phase or section."""
        return self._phases.get(phase, ())

    def settled(self, piece: Piece, text: str) -> Piece:
        """Return the piece that a finding describes if it cites a whole phase or a neighbouring line."""
        spoken = words(text)
        near = [neighbour for neighbour in self.of(piece.phase) if not neighbour.is_heading]
        scored = sorted(
            ((self._weight(neighbour, spoken), -neighbour.line, neighbour) for neighbour in near),
            reverse=True,
        )
        if not scored:
            return piece
        best, *others = scored
        own = 0.0 if piece.is_heading else self._weight(piece, spoken)
        is_meant = best[0] - own >= (_NAMED if piece.is_heading else _MISPLACED)
        return best[2] if is_meant and (not others or best[0] - others[0][0] >= _CLEAR) else piece

    def quoted(self, phase: str, quote: str) -> Piece | None:
        """Find the piece of a phase that contains a quotation; half of the words suffice."""
        inside, plain, wanted = self.of(phase), " ".join(quote.casefold().split()), words(quote)
        whole = next((piece for piece in inside if plain and plain in piece.text.casefold()), None)
        if whole is not None:
            return whole
        scored = [(len(wanted & words(piece.text)), piece) for piece in inside]
        shared, found = max(scored, key=lambda pair: pair[0], default=(0, None))
        return found if wanted and shared >= len(wanted) * _ALIKE else None

    @cached_property
    def texts(self) -> frozenset[tuple[str, str]]:
        """Return every text with its phase, for comparison with another revision."""
        return frozenset((piece.phase, piece.text) for piece in self.pieces)

    @cached_property
    def _phases(self) -> dict[str, tuple[Piece, ...]]:
        found: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            found.setdefault(piece.phase, []).append(piece)
        return {phase: tuple(pieces) for phase, pieces in found.items()}

    @cached_property
    def _often(self) -> dict[str, Counter[str]]:
        """Count the pieces of each phase that contain a word."""
        found: dict[str, Counter[str]] = {}
        for piece in self.pieces:
            if not piece.is_heading:
                found.setdefault(piece.phase, Counter()).update(words(piece.text))
        return found

    def _weight(self, piece: Piece, spoken: frozenset[str]) -> float:
        """Weigh the words that a piece shares with a finding; words in many pieces weigh less."""
        often = self._often[piece.phase]
        # Sorted: a float sum depends on the order, and set order differs between processes.
        return sum(1 / often[word] for word in sorted(words(piece.text) & spoken))


@lru_cache(maxsize=64)
def outline_of(text: str) -> Outline:
    """Parse a revision into pieces."""
    return Outline(text)


def follow(anchor: Anchor, old: Outline, new: Outline) -> Anchor:
    """Find a position of an older revision in a newer one: moved, renumbered or rewritten."""
    phase = _phase(anchor.phase, old, new)
    if not anchor.item:
        line = next((piece.line for piece in new.of(phase)), anchor.line)
        return anchor._replace(phase=phase, line=line)
    same = [piece for piece in new.pieces if piece.text == anchor.item]
    if same:
        found = next((piece for piece in same if piece.phase == phase), same[0])
        return anchor._replace(phase=found.phase, line=found.line)
    known = {text for _, text in old.texts}
    fresh = [piece for piece in new.of(phase) if not piece.is_heading and piece.text not in known]
    best = max(fresh, key=lambda piece: alike(piece.text, anchor.item), default=None)
    if best is None or alike(best.text, anchor.item) < _ALIKE:
        return anchor._replace(phase=phase, item="")
    return anchor._replace(phase=phase, item=best.text, line=best.line)


def changed(old: Outline, new: Outline) -> frozenset[int]:
    """Return the lines of the newer revision's pieces that the older one lacks in that phase."""
    known = {(_phase(phase, old, new), text) for phase, text in old.texts}
    return frozenset(piece.line for piece in new.pieces if (piece.phase, piece.text) not in known)


def changed_phases(old: Outline, new: Outline) -> tuple[str, ...]:
    """List the phases and sections in which a newer revision added, changed or removed something."""
    come, gone = changed(old, new), changed(new, old)
    touched = {piece.phase for piece in new.pieces if piece.line in come}
    touched |= {_phase(piece.phase, old, new) for piece in old.pieces if piece.line in gone}
    return tuple(phase for phase in dict.fromkeys(piece.phase for piece in new.pieces) if phase in touched)


def _phase(phase: str, old: Outline, new: Outline) -> str:
    """Find a phase by its title if its number now belongs to another phase."""
    title = old.titles.get(phase)
    if title is None or new.titles.get(phase) == title:
        return phase
    return next((known for known, name in new.titles.items() if name == title), phase)


def _pieces(plan: Plan, blocks: Iterable[Block]) -> Iterator[Piece]:
    owner = {line: phase.id for phase in plan.phases for line in range(phase.lines[0], phase.lines[1] + 1)}
    section = ""
    for block in blocks:
        if isinstance(block, Heading) and block.level <= _SECTION:
            section = block.text.strip().casefold()
        for line, text in _texts(block):
            shown = " ".join(text.split())
            if shown:
                yield Piece(line, owner.get(line, section), shown, isinstance(block, Heading))


def _texts(block: Block) -> Iterator[tuple[int, str]]:
    match block:
        case Heading() | Item() | Paragraph():
            yield block.line + 1, block.text
        case Fence():
            yield from enumerate(block.content.splitlines(), block.content_line + 1)
        case Table():
            yield block.line + 1, " | ".join(block.header)
            for row in block.rows:
                yield row.line + 1, " | ".join(row.texts)
