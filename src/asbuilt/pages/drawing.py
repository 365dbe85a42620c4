"""The phase graph and the timeline as SVG, in the page's colours and at any width.

Rule: positions are percentages and font sizes are not, so a narrow screen moves elements but shrinks no text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from html import escape
from typing import TYPE_CHECKING, Final

from asbuilt.pages.document import Tone, one_line
from asbuilt.pages.times import clock, lasting, seconds

if TYPE_CHECKING:
    from asbuilt.lifecycle.status.report import Outlined
    from asbuilt.lifecycle.status.timeline import Doing, Span

DOINGS: Final[Mapping[Doing, str]] = {
    "prepare": "setup and baseline",
    "work": "an agent works",
    "check": "asbuilt checks",
    "judge": "a verifier judges",
    "wait": "waits",
    "land": "lands",
}
_ABREAST: Final = 4
_BOX: Final = 34
_GAP: Final = 22
_LANE: Final = 40
_SEEN: Final = 0.5
"""Smallest visible width of a bar, in percent."""


def edges(outline: Sequence[Outlined]) -> list[tuple[str, str]]:
    """List the direct dependencies of each phase; a dependency that another one implies is left out."""
    needs = _known(outline)
    below = {phase: _all_below(phase, needs) for phase in needs}
    return [
        (need, phase)
        for phase, direct in needs.items()
        for need in direct
        if not any(need in below[other] for other in direct)
    ]


def _known(outline: Sequence[Outlined]) -> dict[str, tuple[str, ...]]:
    ids = {phase.id for phase in outline}
    return {
        phase.id: tuple(need for need in phase.needs if need in ids and need != phase.id) for phase in outline
    }


def _all_below(phase: str, needs: Mapping[str, tuple[str, ...]]) -> set[str]:
    found: set[str] = set()
    to_visit = [*needs[phase]]
    while to_visit:
        place = to_visit.pop()
        if place not in found:
            found.add(place)
            to_visit += needs[place]
    return found


def _rows(outline: Sequence[Outlined]) -> list[list[Outlined]]:
    """Arrange phases in rows, each below its dependencies; at most 4 phases a row."""
    needs = _known(outline)
    depth: dict[str, int] = {}
    for _ in outline:
        before = dict(depth)
        for phase in outline:
            depth[phase.id] = 1 + max((depth.get(need, 0) for need in needs[phase.id]), default=-1)
        if depth == before:
            break
    layers = [
        [phase for phase in outline if depth[phase.id] == level] for level in sorted(set(depth.values()))
    ]
    return [layer[at : at + _ABREAST] for layer in layers for at in range(0, len(layer), _ABREAST)]


def graph(
    outline: Sequence[Outlined], tones: Mapping[str, Tone], links: Mapping[str, str] | None = None
) -> str:
    """Draw the phases, their dependencies and their states; a phase may link to its own place."""
    rows = _rows(outline)
    places = {
        phase.id: (100 * (2 * at + 1) / (2 * len(row)), number * (_BOX + _GAP))
        for number, row in enumerate(rows)
        for at, phase in enumerate(row)
    }
    lines = [
        f'<line class="edge" x1="{places[above][0]:.2f}%" y1="{places[above][1] + _BOX}"'
        f' x2="{places[below][0]:.2f}%" y2="{places[below][1]}"/>'
        for above, below in edges(outline)
    ]
    boxes = []
    for row in rows:
        wide = min(50.0, 100 / len(row)) - 2
        for phase in row:
            (middle, top), tone = places[phase.id], tones.get(phase.id, "plain")
            where = f'x="{middle - wide / 2:.2f}%" y="{top}" width="{wide:.2f}%" height="{_BOX}"'
            box = (
                f'<rect class="box {tone}" {where} rx="8"/><foreignObject {where}><div class="node">'
                f"<b>{_text(phase.id)}</b> <span>{_text(phase.title)}</span></div></foreignObject>"
            )
            href = (links or {}).get(phase.id)
            boxes.append(f'<a href="{_text(href)}">{box}</a>' if href else box)
    height = len(rows) * (_BOX + _GAP) - _GAP
    return _svg("graph", height, "Which phase builds on which", [*lines, *boxes])


def timeline(spans: Sequence[Span], titles: Mapping[str, str], zone: tzinfo | None) -> str:
    """Draw where the time went: one lane for the run as a whole and one for each phase, in order of time."""
    began, ended = min(span.began for span in spans), max(span.ended for span in spans)
    whole = seconds(began, ended) or 1.0
    lanes: dict[str, list[Span]] = {}
    for span in spans:
        lanes.setdefault(span.phase, []).append(span)
    parts = [
        f'<line class="grid" x1="{at}%" x2="{at}%" y1="0" y2="{len(lanes) * _LANE}"/>' for at in (25, 50, 75)
    ]
    for number, (phase, lane) in enumerate(lanes.items()):
        top = number * _LANE
        title = f"{phase} {titles.get(phase, '')}" if phase else "The run as a whole"
        spent = lasting(sum(seconds(span.began, span.ended) for span in lane))
        parts.append(f'<text x="0" y="{top + 14}">{_text(_short(title))}</text>')
        parts.append(f'<text class="small" x="100%" y="{top + 14}" text-anchor="end">{spent}</text>')
        for span in lane:
            at = min(100 - _SEEN, 100 * seconds(began, span.began) / whole)
            wide = max(_SEEN, 100 * seconds(span.began, span.ended) / whole)
            tip = f"{span.what}: {lasting(seconds(span.began, span.ended))}"
            place = f'x="{at:.2f}%" y="{top + 20}" width="{wide:.2f}%" height="12" rx="2"'
            parts.append(f'<rect class="{span.doing}" {place}><title>{_text(tip)}</title></rect>')
    bottom = len(lanes) * _LANE + 14
    parts.append(f'<text class="small" x="0" y="{bottom}">{clock(began, zone)}</text>')
    parts.append(f'<text class="small" x="100%" y="{bottom}" text-anchor="end">{clock(ended, zone)}</text>')
    there = {span.doing for span in spans}
    key = "".join(
        f'<span><i class="{doing}"></i>{words}</span>' for doing, words in DOINGS.items() if doing in there
    )
    return f'{_svg("time", bottom + 6, "Where the time went", parts)}<p class="key">{key}</p>'


def _svg(kind: str, height: int, title: str, parts: Sequence[str]) -> str:
    # An image has no parts: links inside it would be lost to a screen reader.
    role = "group" if any("<a " in part for part in parts) else "img"
    named = f'class="{kind}" role="{role}" aria-label="{title}"'
    return f'<svg {named} width="100%" height="{height}">{"".join(parts)}</svg>'


def _short(title: str) -> str:
    """Shorten a title to 34 characters, so that a number fits beside it on a narrow screen."""
    line = one_line(title)
    return line if len(line) <= 34 else f"{line[:33]}…"


def _text(foreign: str) -> str:
    return escape(one_line(foreign), quote=True)
