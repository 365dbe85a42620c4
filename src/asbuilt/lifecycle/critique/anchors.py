"""Where in a plan something is, by phase and by what stands there: it is found after lines have moved.

The one rule: a line number is only what people are shown; it is never what two places are compared by.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.lifecycle.words import alike, words
from asbuilt.plan.markdown.blocks import Fence, Heading, Item, Paragraph, Table, parse
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from asbuilt.plan.markdown.blocks import Block
    from asbuilt.plan.model import Plan

_SECTION: Final = 2
"""The level of headings that divide what stands outside the phases."""
_ALIKE: Final = 0.5
_NAMED: Final = 0.75
"""What the words weigh at least that name a piece, where its phase was pointed at."""
_MISPLACED: Final = 1.25
"""What they weigh against a line that was pointed at: more than one word that no other piece has."""
_CLEAR: Final = 0.25
"""By how much one piece is meant more than any other."""


class Anchor(NamedTuple):
    """A place that outlives a revision: a phase or section, the item in it, or a file of the repository."""

    phase: str = ""
    item: str = ""
    """What stands there; empty for the whole of a phase."""
    file: str = ""
    line: int = 0
    """Where it stood in the revision that it was read from, for people."""


class Piece(NamedTuple):
    """A heading, an item, a paragraph, a row or a line of code: the least that can be pointed at."""

    line: int
    """1-based."""
    phase: str
    text: str
    is_heading: bool = False

    @property
    def anchor(self) -> Anchor:
        """Give its place; a heading stands for the whole of its phase."""
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
        """Return the piece that a 1-based line belongs to; what is blank belongs to what stands above it."""
        found = bisect_right(self._starts, line) - 1
        return self.pieces[found] if found >= 0 else None

    def of(self, phase: str) -> tuple[Piece, ...]:
        """List the pieces of a phase or section."""
        return self._phases.get(phase, ())

    def settled(self, piece: Piece, said: str) -> Piece:
        """Find the piece that words speak of which point at a phase as a whole, or at a line beside it."""
        spoken = words(said)
        near = [one for one in self.of(piece.phase) if not one.is_heading]
        scored = sorted(((self._weight(one, spoken), -one.line, one) for one in near), reverse=True)
        if not scored:
            return piece
        best, *others = scored
        own = 0.0 if piece.is_heading else self._weight(piece, spoken)
        is_meant = best[0] - own >= (_NAMED if piece.is_heading else _MISPLACED)
        return best[2] if is_meant and (not others or best[0] - others[0][0] >= _CLEAR) else piece

    def quoted(self, phase: str, quote: str) -> Piece | None:
        """Find the piece of a phase that a quotation is taken from, though not letter by letter."""
        inside, plain, wanted = self.of(phase), " ".join(quote.casefold().split()), words(quote)
        whole = next((one for one in inside if plain and plain in one.text.casefold()), None)
        if whole is not None:
            return whole
        scored = [(len(wanted & words(one.text)), one) for one in inside]
        shared, found = max(scored, key=lambda pair: pair[0], default=(0, None))
        return found if wanted and shared >= len(wanted) * _ALIKE else None

    @cached_property
    def texts(self) -> frozenset[tuple[str, str]]:
        """Give every text with its phase, to see what another revision has of it."""
        return frozenset((piece.phase, piece.text) for piece in self.pieces)

    @cached_property
    def _phases(self) -> dict[str, tuple[Piece, ...]]:
        found: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            found.setdefault(piece.phase, []).append(piece)
        return {phase: tuple(pieces) for phase, pieces in found.items()}

    @cached_property
    def _often(self) -> dict[str, Counter[str]]:
        """Count in how many pieces of each phase a word stands."""
        found: dict[str, Counter[str]] = {}
        for piece in self.pieces:
            if not piece.is_heading:
                found.setdefault(piece.phase, Counter()).update(words(piece.text))
        return found

    def _weight(self, piece: Piece, spoken: frozenset[str]) -> float:
        """Weigh the words that a piece shares with what was said: one that all pieces have says little."""
        often = self._often[piece.phase]
        # In a fixed order: sums of fractions depend on it, and the order of a set on the process.
        return sum(1 / often[word] for word in sorted(words(piece.text) & spoken))


@lru_cache(maxsize=64)
def outline_of(text: str) -> Outline:
    """Read a revision into pieces."""
    return Outline(text)


def follow(anchor: Anchor, old: Outline, new: Outline) -> Anchor:
    """Find where a place of an older revision is in a newer one: moved, renumbered, or written anew."""
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
    """Give the lines of the pieces of a newer revision that the older one does not have in that phase."""
    known = {(_phase(phase, old, new), text) for phase, text in old.texts}
    return frozenset(piece.line for piece in new.pieces if (piece.phase, piece.text) not in known)


def changed_phases(old: Outline, new: Outline) -> tuple[str, ...]:
    """List the phases and sections in which a newer revision has added, changed or taken away something."""
    come, gone = changed(old, new), changed(new, old)
    touched = {piece.phase for piece in new.pieces if piece.line in come}
    touched |= {_phase(piece.phase, old, new) for piece in old.pieces if piece.line in gone}
    return tuple(phase for phase in dict.fromkeys(piece.phase for piece in new.pieces) if phase in touched)


def _phase(phase: str, old: Outline, new: Outline) -> str:
    """Find a phase by its title where its number has gone to another."""
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
    """Give what a block says, piece by piece, with 1-based lines."""
    match block:
        case Heading() | Item() | Paragraph():
            yield block.line + 1, block.text
        case Fence():
            yield from enumerate(block.content.splitlines(), block.content_line + 1)
        case Table():
            yield block.line + 1, " | ".join(block.header)
            for row in block.rows:
                yield row.line + 1, " | ".join(row.texts)
