"""Draw the diagrams of the explanation pages: boxes and arrows at fixed places, in two themes."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Tone = Literal["plain", "proven", "asks", "fails", "frame"]
FONT: Final = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
THEMES: Final[Mapping[str, Mapping[str, str]]] = {
    "light": {
        "ink": "#1b2326", "dim": "#5c6b70", "plain": "#f4f7f8", "proven": "#dff3e6", "asks": "#fdf3d3",
        "fails": "#fbe3e1", "frame": "none", "line": "#6b7b80",
    },
    "dark": {
        "ink": "#e6edef", "dim": "#9fb0b5", "plain": "#263238", "proven": "#1f3d2d", "asks": "#443a17",
        "fails": "#4a2623", "frame": "none", "line": "#8fa3a9",
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """A box with a bold first line."""

    x: int
    y: int
    width: int
    height: int
    lines: tuple[str, ...]
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Arrow:
    """A line through points, with an arrow head at its end and an optional label."""

    points: tuple[tuple[int, int], ...]
    label: str = ""
    at: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes and arrows on a surface."""

    title: str
    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


DIAGRAMS: Final = {
    "proof": Diagram(
        "How a phase is proven", 860, 270,
        (
            Box(10, 20, 130, 74, ("Agent", "says done")),
            Box(190, 20, 140, 74, ("Change", "something changed,", "tests not weakened")),
            Box(360, 20, 140, 74, ("Checks", "run by asbuilt on", "a clean checkout")),
            Box(530, 20, 140, 74, ("Trials", "the tests themselves", "are tried")),
            Box(700, 20, 150, 74, ("Verdict", "a second agent,", "evidence checked")),
            Box(190, 176, 310, 60, ("Failure", "with output, back to the agent: at most twice"), "fails"),
            Box(530, 176, 140, 60, ("Sign-off", "a user decides"), "asks"),
            Box(700, 176, 150, 60, ("Proven", "commit on its branch"), "proven"),
        ),
        (
            Arrow(((140, 57), (190, 57)), "tree", (165, 49)),
            Arrow(((330, 57), (360, 57))), Arrow(((500, 57), (530, 57))), Arrow(((670, 57), (700, 57))),
            Arrow(((260, 94), (260, 176)), "fails", (284, 140)),
            Arrow(((430, 94), (430, 176)), "fails", (454, 140)),
            Arrow(((775, 94), (775, 176)), "PASS", (799, 140)),
            Arrow(((190, 206), (75, 206), (75, 94)), "fix", (60, 150)),
            Arrow(((600, 94), (600, 176)), "cannot decide", (644, 140)),
            Arrow(((670, 206), (700, 206)), "yes", (685, 198)),
        ),
    ),
    "sandbox": Diagram(
        "What runs in a sandbox and what it reaches", 860, 330,
        (
            Box(10, 20, 190, 290, ("Your machine",), "frame"),
            Box(26, 56, 158, 60, ("Home", "keys, logins, browsers")),
            Box(26, 136, 158, 60, ("Your checkout", "never written")),
            Box(26, 216, 158, 76, ("asbuilt", "worker, journal,", "git, landing"), "proven"),
            Box(240, 20, 330, 290, ("Sandboxes: empty root, named paths only",), "frame"),
            Box(260, 56, 290, 60, ("Agent", "writes its workspace and its own HOME")),
            Box(260, 136, 290, 60, ("Setup", "writes the check environment")),
            Box(260, 216, 290, 76, ("Check", "a copy of the kept tree,", "no network, no credentials")),
            Box(620, 56, 110, 140, ("Proxy", "list of hosts,", "TLS for the", "same host"), "asks"),
            Box(762, 56, 88, 60, ("Model", "its hosts")),
            Box(762, 136, 88, 60, ("Registries", "of your tools")),
        ),
        (
            Arrow(((184, 250), (260, 250)), "runs", (228, 264)),
            Arrow(((184, 236), (222, 236), (222, 86), (260, 86)), "starts", (222, 78)),
            Arrow(((550, 86), (620, 86))), Arrow(((550, 166), (620, 166))),
            Arrow(((730, 86), (762, 86))), Arrow(((730, 166), (762, 166))),
        ),
    ),
    "engine": Diagram(
        "How a run continues after a crash", 860, 300,
        (
            Box(10, 20, 150, 60, ("asbuilt run", "writes a request")),
            Box(230, 20, 170, 60, ("Journal", "append-only events"), "proven"),
            Box(230, 120, 400, 160, ("Worker",), "frame"),
            Box(250, 156, 160, 100, ("Decide", "events to facts,", "facts to next move", "(pure function)")),
            Box(450, 156, 160, 100, ("Perform", "check first, then act;", "DBOS records", "the step")),
            Box(690, 106, 160, 60, ("Agent host", "outlives the worker")),
            Box(690, 186, 160, 76, ("git and checks", "workspaces, refs,", "clean checkouts")),
            Box(470, 20, 160, 60, ("Screens, report", "computed from events")),
        ),
        (
            Arrow(((160, 50), (230, 50)), "request", (195, 42)),
            Arrow(((300, 80), (300, 156)), "read", (322, 112)),
            Arrow(((410, 206), (450, 206)), "move", (430, 198)),
            Arrow(((520, 156), (520, 104), (360, 104), (360, 80)), "new event", (440, 98)),
            Arrow(((400, 50), (470, 50))),
            Arrow(((610, 180), (650, 180), (650, 136), (690, 136))),
            Arrow(((610, 226), (690, 226))),
        ),
    ),
    "landing": Diagram(
        "How proven commits land", 860, 240,
        (
            Box(10, 20, 170, 74, ("asbuilt/<plan>", "proven commits,", "never checked out"), "proven"),
            Box(240, 20, 170, 74, ("On the target's tip", "commits and marks,", "in a workspace")),
            Box(470, 20, 160, 74, ("Prove again", "only if the target", "moved")),
            Box(690, 20, 160, 74, ("Compare and swap", "target moves once,", "or not at all")),
            Box(470, 160, 160, 60, ("Not landed", "nothing has moved"), "fails"),
            Box(690, 160, 160, 60, ("Landed", "undo: one revert each"), "proven"),
        ),
        (
            Arrow(((180, 57), (240, 57))), Arrow(((410, 57), (470, 57))),
            Arrow(((630, 57), (690, 57))),
            Arrow(((550, 94), (550, 160)), "fails", (574, 132)),
            Arrow(((770, 94), (770, 160)), "tip is the same", (818, 132)),
            Arrow(((720, 94), (720, 120), (325, 120), (325, 94)), "target moved: up to 5 times", (430, 138)),
        ),
    ),
}  # fmt: skip


def drawn(diagram: Diagram, theme: str) -> str:
    """Return the diagram as SVG."""
    return "\n".join([*_parts(diagram, THEMES[theme]), "</svg>", ""])


def pages() -> dict[str, str]:
    """Return each diagram in both themes, by path."""
    return {
        f"docs/pictures/{name}-{theme}.svg": drawn(diagram, theme)
        for name, diagram in DIAGRAMS.items()
        for theme in THEMES
    }


def _parts(diagram: Diagram, colours: Mapping[str, str]) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {diagram.width} {diagram.height}"'
        f' width="{diagram.width}" height="{diagram.height}" font-family="{escape(FONT)}" font-size="13"'
        ' role="img">'
    )
    yield f"<title>{escape(diagram.title)}</title>"
    yield (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
        f' orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{colours["line"]}"/></marker></defs>'
    )
    for box in diagram.boxes:
        yield from _box(box, colours)
    for arrow in diagram.arrows:
        yield from _arrow(arrow, colours)


def _box(box: Box, colours: Mapping[str, str]) -> Iterator[str]:
    dashes = ' stroke-dasharray="5 4"' if box.tone == "frame" else ""
    yield (
        f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="7"'
        f' fill="{colours[box.tone]}" stroke="{colours["line"]}"{dashes}/>'
    )
    middle = box.x + box.width // 2
    top = box.y + 22 if box.tone == "frame" else box.y + (box.height - 18 * (len(box.lines) - 1)) // 2 + 5
    for number, line in enumerate(box.lines):
        ink, look = ("dim", 'font-size="12"') if number else ("ink", 'font-weight="600"')
        style = f'fill="{colours[ink]}" {look}'
        yield f'<text x="{middle}" y="{top + 18 * number}" text-anchor="middle" {style}>{escape(line)}</text>'


def _arrow(arrow: Arrow, colours: Mapping[str, str]) -> Iterator[str]:
    points = " ".join(f"{x},{y}" for x, y in arrow.points)
    yield (
        f'<polyline points="{points}" fill="none" stroke="{colours["line"]}" stroke-width="1.5"'
        ' marker-end="url(#head)"/>'
    )
    if arrow.label:
        x, y = arrow.at
        style = f'text-anchor="middle" font-size="11" fill="{colours["dim"]}"'
        yield f'<text x="{x}" y="{y}" {style}>{escape(arrow.label)}</text>'
