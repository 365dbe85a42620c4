"""Draw what a terminal shows as an SVG. Pure: the text with its ANSI styles in, the picture out."""

from __future__ import annotations

import re
from html import escape
from itertools import groupby
from typing import Final, NamedTuple

_WIDE: Final = 8.4
_HIGH: Final = 19
_EDGE: Final = 18
_FONTS: Final = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_SGR: Final = re.compile(r"\x1b\[([\d;]*)m|\x1b\([A-Z0-9]|[\x0e\x0f]")
_COLOURS: Final = {"31": "red", "32": "green", "33": "yellow"}


class Theme(NamedTuple):
    """What the colours of a terminal are."""

    paper: str
    edge: str
    ink: str
    dim: str
    red: str
    green: str
    yellow: str


LIGHT: Final = Theme("#ffffff", "#d0d7de", "#1f2328", "#6e7781", "#cf222e", "#1a7f37", "#9a6700")
DARK: Final = Theme("#0d1117", "#30363d", "#e6edf3", "#8b949e", "#ff7b72", "#3fb950", "#d29922")


class Style(NamedTuple):
    """How a letter looks."""

    colour: str = "ink"
    bold: bool = False


def drawn(shown: str, *, columns: int, theme: Theme, title: str) -> str:
    """Draw the rows of a terminal; empty ones at the end are left out."""
    rows = _cells(shown.rstrip("\n"))
    width = round(columns * _WIDE + 2 * _EDGE)
    height = len(rows) * _HIGH + 2 * _EDGE
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    frame = f'width="{width - 1}" height="{height - 1}" rx="8" fill="{theme.paper}" stroke="{theme.edge}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>text{{font:14px {_FONTS};white-space:pre}}.bold{{font-weight:bold}}</style>",
        f'<rect x="0.5" y="0.5" {frame}/>',
    ]
    for number, row in enumerate(rows):
        lines += _row(row, round(_EDGE + number * _HIGH + _HIGH * 0.75, 2), theme)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _row(row: list[tuple[str, Style]], y: float, theme: Theme) -> list[str]:
    drawn_parts, at = [], 0
    for style, group in groupby(row, key=lambda cell: cell[1]):
        text = "".join(letter for letter, _ in group)
        if text.strip():
            # Each run has its own place and length, so that the columns hold in every font.
            weight = ' class="bold"' if style.bold else ""
            drawn_parts.append(
                f'<text x="{round(_EDGE + at * _WIDE, 1)}" y="{y}" textLength="{round(len(text) * _WIDE, 1)}"'
                f' xml:space="preserve" fill="{getattr(theme, style.colour)}"{weight}>{escape(text)}</text>'
            )
        at += len(text)
    return drawn_parts


def _cells(shown: str) -> list[list[tuple[str, Style]]]:
    """Give every letter its style; a style holds until it is changed, over the ends of lines too."""
    rows: list[list[tuple[str, Style]]] = []
    style = Style()
    for line in shown.split("\n"):
        row: list[tuple[str, Style]] = []
        at = 0
        for change in _SGR.finditer(line):
            row += [(letter, style) for letter in line[at : change.start()]]
            style, at = _changed(style, change[1]), change.end()
        rows.append(row + [(letter, style) for letter in line[at:]])
    return rows


def _changed(style: Style, codes: str | None) -> Style:
    for code in (codes or "0").split(";") if codes is not None else ():
        if code in ("0", ""):
            style = Style()
        elif code == "1":
            style = style._replace(bold=True)
        elif code == "2":
            style = style._replace(colour="dim")
        elif code == "39":
            style = style._replace(colour="ink")
        elif code in _COLOURS:
            style = style._replace(colour=_COLOURS[code])
    return style


def plain(shown: str) -> str:
    """Give the letters alone."""
    return "".join(f"{line.rstrip()}\n" for line in _SGR.sub("", shown).rstrip("\n").split("\n"))
