"""Parse the options in an output, and check that they differ.

Rule: two options are twins if they share most of their words, even under different titles.
"""

from __future__ import annotations

import re
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.lifecycle.authoring.validators.demands import RECOMMENDATION, TRADE_OFFS
from asbuilt.lifecycle.authoring.validators.references import Tree, references_in
from asbuilt.lifecycle.authoring.validators.wording import (
    alike,
    is_placeholder,
    meaningful,
    occurrences,
    stems,
)
from asbuilt.lifecycle.flaws import Flaw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from asbuilt.lifecycle.authoring.validators.prose import Passage

_LABEL: Final = re.compile(
    r"\W{0,4}(?:option|approach|alternative|variant|solution|strategy|choice|variante|lösung|ansatz|approche"
    r"|opción|alternativa|opção|opzione|optie|方案|選択肢|选项|案|방안|옵션|대안)\s*#?(?:[A-Z]|\d{1,2}|[IVX]{1,4})"
    r"(?!\w)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LETTER: Final = re.compile(r"\W{0,4}[A-H][).:]\W{0,3}\s+(?P<rest>.*)", re.DOTALL)
_COLUMN: Final = re.compile(r"(?:option|approach|alternative|variant|solution)\w*:", re.IGNORECASE)
ANNOUNCING: Final = stems(("option", "approach", "alternative", "variant", "solution"))
_WEIGHING: Final = stems(TRADE_OFFS) | ANNOUNCING
_MOST: Final = 12
"""Maximum number of options; the rest is ignored."""
_LEAST: Final = 4
"""Minimum number of meaningful words; an option with fewer is only a name."""


class Option(NamedTuple):
    """One option: its title and its text."""

    title: str
    passages: tuple[Passage, ...]


def options_in(passages: Sequence[Passage], enough: int) -> list[Option]:
    """Return the options: labelled, lettered, rows of a table, numbered items or headings.

    The first form with `enough` options counts.
    """
    ways: tuple[Callable[[Passage], str | None], ...] = (_labelled, _lettered, _row, _numbered, _heading)
    found: list[Option] = []
    for way in ways:
        told = (option for option in _cut(passages, way) if _says_enough(option))
        options = list(islice(told, _MOST))
        found = max(found, options, key=len)
        if len(found) >= enough:
            break
    return found


def twins_among(options: Sequence[Option], tree: Tree) -> tuple[Flaw, ...]:
    """Return a flaw for the first pair of twins: most words shared, or many words and the same files."""
    for one, other in combinations(options, 2):
        ours, theirs = _words(one), _words(other)
        of_all, of_smaller = alike(ours, theirs)
        touched = frozenset(references_in(one.passages, tree).there)
        same_files = bool(touched) and touched == frozenset(references_in(other.passages, tree).there)
        if of_all >= 0.6 or of_smaller >= 0.8 or (same_files and of_smaller >= 0.65):
            share = round(100 * of_smaller)
            found = f'"{_name(one)}" and "{_name(other)}" share {share} % of their words'
            needed = "options that differ in what is built, where it runs or what it costs"
            example = "Option A counts in Redis, exact; Option B counts in each process, without a round trip"
            return (Flaw("twin options", found, needed, example),)
    return ()


def _cut(passages: Sequence[Passage], opens: Callable[[Passage], str | None]) -> Iterator[Option]:
    title: str | None = None
    level = 0
    body: list[Passage] = []
    for passage in passages:
        opened = opens(passage)
        ends = _recommends(passage) or (passage.kind == "heading" and 0 < passage.level <= level)
        if opened is not None or ends:
            if title is not None:
                yield Option(title, tuple(body))
            title, body = opened, []
            level = passage.level if passage.kind == "heading" else 0
        elif title is not None:
            body.append(passage)
    if title is not None:
        yield Option(title, tuple(body))


def _labelled(passage: Passage) -> str | None:
    found = _LABEL.match(passage.text)
    return found["rest"].strip(" :.–—-*_") if found else None


def _lettered(passage: Passage) -> str | None:
    found = _LETTER.match(passage.text)
    return found["rest"] if found else None


def _row(passage: Passage) -> str | None:
    return passage.text if passage.kind == "row" and _COLUMN.match(passage.text) else None


def _numbered(passage: Passage) -> str | None:
    return passage.text if passage.numbered and passage.level == 0 else None


def _heading(passage: Passage) -> str | None:
    return passage.text if passage.kind == "heading" and passage.level > 1 else None


def _recommends(passage: Passage) -> bool:
    words = re.findall(r"\w+", passage.text)[:3]
    return bool(occurrences(" ".join(words), RECOMMENDATION))


def _words(option: Option) -> frozenset[str]:
    besides = _WEIGHING
    body = [word for passage in option.passages for word in meaningful(passage.text) if word not in besides]
    # Twins differ in their titles, so the title counts only for an option with a short body.
    title = [word for word in meaningful(option.title) if word not in besides]
    return frozenset(body if len(set(body)) > _LEAST else title + body)


def _says_enough(option: Option) -> bool:
    said = [passage.text for passage in option.passages if not is_placeholder(passage.text)]
    besides = _WEIGHING
    words = {word for text in [option.title, *said] for word in meaningful(text) if word not in besides}
    return len(words) >= _LEAST


def _name(option: Option) -> str:
    title = re.split(r"[.;:\n]|\*\*", option.title.strip(" *_"), maxsplit=1)[0]
    return title.strip(" *_")[:40] or "an option"
