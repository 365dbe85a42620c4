"""Draw curves as one small SVG, readable on light and on dark paper. Pure."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from measures.curve import Curve

_WIDE: Final = 360
_HIGH: Final = 210
_LEFT: Final = 44
_RIGHT: Final = 130
_TOP: Final = 42
_BOTTOM: Final = 34
_ACROSS: Final = 2
_LINES: Final = 4
_STYLE: Final = (
    "text{font:12px system-ui,sans-serif;fill:#1f2328}.dim{fill:#6e7781}.axis{stroke:#d0d7de}"
    ".most{stroke:#cf222e;stroke-dasharray:4 3}polyline{fill:none;stroke-width:2}"
    ".c0{stroke:#0969da}.c1{stroke:#1a7f37}.c2{stroke:#9a6700}.c3{stroke:#8250df}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#8b949e}.axis{stroke:#30363d}"
    ".most{stroke:#ff7b72}.c0{stroke:#58a6ff}.c1{stroke:#3fb950}.c2{stroke:#d29922}.c3{stroke:#bc8cff}}"
)


class Line(NamedTuple):
    """One line of a panel: its name and a height for each point."""

    name: str
    heights: list[float]


def drawn(curves: Sequence[Curve]) -> str:
    """Draw a panel for each curve that has something to judge."""
    shown = [curve for curve in curves if curve.accepted]
    rows = -(-len(shown) // _ACROSS)
    box = f'width="{_ACROSS * _WIDE}" height="{rows * _HIGH}" viewBox="0 0 {_ACROSS * _WIDE} {rows * _HIGH}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">',
        "<title>What asbuilt costs as things grow</title>",
        f"<style>{_STYLE}</style>",
    ]
    for number, curve in enumerate(shown):
        at = f"translate({number % _ACROSS * _WIDE} {number // _ACROSS * _HIGH})"
        parts += [f'<g transform="{at}">', *_panel(curve), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def lines_of(curve: Curve) -> list[Line]:
    """Choose what a panel shows: the judged figures that came highest, as ratios unless they are rates."""
    lines = []
    for name in curve.accepted:
        values = [point.figures[name] for point in curve.points]
        lines.append(Line(name, values if curve.is_rate else [one / max(values[0], 1e-9) for one in values]))
    return sorted(lines, key=lambda line: -line.heights[-1])[:_LINES]


def _panel(curve: Curve) -> list[str]:
    lines, most = lines_of(curve), max(curve.accepted.values())
    top = max(most * 1.15, *(height for line in lines for height in line.heights))
    across, down = _WIDE - _LEFT - _RIGHT, _HIGH - _TOP - _BOTTOM
    last = max(1, len(curve.points) - 1)

    def x(number: int) -> float:
        return round(_LEFT + across * number / last, 1)

    def y(height: float) -> float:
        return round(_TOP + down * (1 - height / top), 1)

    unit = "" if curve.is_rate else ", times the first"
    parts = [
        f'<text x="{_LEFT}" y="18">{escape(f"{curve.letter}  {curve.title}{unit}")}</text>',
        f'<text class="dim" x="{_LEFT}" y="{_HIGH - 4}">{escape(curve.across)}</text>',
        f'<line class="axis" x1="{_LEFT}" y1="{y(0)}" x2="{x(last)}" y2="{y(0)}"/>',
        f'<line class="most" x1="{_LEFT}" y1="{y(most)}" x2="{x(last)}" y2="{y(most)}"/>',
        f'<text class="dim" x="{_LEFT - 6}" y="{y(most) + 4}" text-anchor="end">{most:g}</text>',
    ]
    for number, point in enumerate(curve.points):
        label = _short(point.at)
        parts.append(f'<text class="dim" x="{x(number)}" y="{y(0) + 15}" text-anchor="middle">{label}</text>')
    under = float(_TOP - 16)
    for number, line in enumerate(lines):
        path = " ".join(f"{x(place)},{y(height)}" for place, height in enumerate(line.heights))
        parts.append(f'<polyline class="c{number}" points="{path}"/>')
        under = max(under + 14, y(line.heights[-1]) + 4)
        name = escape(f"{line.name} {line.heights[-1]:.2f}")
        mark = f'x1="{x(last) + 5}" y1="{under - 4}" x2="{x(last) + 15}" y2="{under - 4}" stroke-width="3"'
        parts.append(f'<line class="c{number}" {mark}/><text x="{x(last) + 19}" y="{under}">{name}</text>')
    return parts


def _short(number: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size and number % size == 0:
            return f"{number // size}{letter}"
    return str(number)
