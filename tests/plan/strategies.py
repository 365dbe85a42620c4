"""Whole plans of every format as hypothesis strategies, the edits that suit them, and plans with damage.

The one rule: a plan from `plans()` is well-formed, so whatever its format has a place for must succeed on it.
"""

from __future__ import annotations

from functools import cache
from itertools import cycle, product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from hypothesis import strategies as st

from tests.plan.requests import Complete, Correct, FillIn, MarkItem, MarkPhase, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.plan.model import Status

T = TypeVar("T")

_BOM: Final = b"\xef\xbb\xbf"
_HASHES: Final = ("a1b2c3d", "c0ffee1", "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432")
_WORDS: Final = (
    "retry", "`sync/a.py`", "naïve", "日本", "line\u2028separator", "tab\there", "a\\|b", "*bold*", "(see",
    "below)",
    "3", "<b>", "panel", "first", "Phase", "[x]", "✅", "done", "#", ">", "--", "\\", "n\x0bm", "$HOME",
    "&amp;",
    "nul\0byte", "not\udcffutf8", "<!-- why -->", "[link](a.md)", "12-14", "and", "ı", "1,000", "…",
)  # fmt: skip
_TITLES: Final = (
    "Extract helper", "Retry core", "Wire the client", "Naïve panel", "Über `config` files", "日本 names",
    "Phase out INI",
    "Done deals", "Read [RFC 4180](x.md)", "C++ build", "Tidy (again)", "Line\u2028separator",
    "Not\udcffutf8", "100 % cover",
)  # fmt: skip
_NUMBERS: Final = (
    ("1", "2", "3", "4"), ("1", "2", "4a", "4b"), ("0", "1.1", "1.2", "10"), ("A", "B", "C", "D"),
)  # fmt: skip
FRONTS: Final = (
    (),
    ("---", "title: Retries", "created: 2026-01-12", "status: active", "issue: 42", 'issue: "#57"', "---"),
    ("---", "# who wrote it", "created: 2026-01-12", "status: active # for now", "owner: 'me'", "---"),
    ("---", 'status: "active"', "created: '2026-01-12'", "completed:", "---"),
    ("---", "status: draft", "title: Twice", "status: active", "---"),
    ("---", "title: No status", "tags: [a,   b]", "---"),
    ("---", "status:", "---"),
    ("---", "status: >", "  active", "  still", "title: Folded", "---"),
    ("---", "status:", "  - active", "x: 1", "..."),
    ("---", "---"),
    ("---", "", "# nothing but a remark", "---"),
    ("---", "  title: Indented", "  status: active", "---"),
    ("---", "was: &was active", "status: *was", "---"),
    ("---", '"status" : active', "title: Quoted key", "--- "),
    ("---", "title: |", "  Two", "  lines", "status: active", "", "---"),
)
_BOX_LEADS: Final = (
    ("- ", ""), ("* ", ""), ("1. ", ""), ("  - ", ""), ("> - ", ""), ("> > * ", ""), ("  - ", "- outer"),
    ("\t- ", "- outer"),
    ("-\t", ""), (">   1) ", "> 1) outer"), ("   - ", "1. [x] outer"),
)  # fmt: skip
_CLAIMS: Final = (
    "`lines`: 60-90 lines", "at most 4 files", "≥3 tests", "exactly 57 tests pass", "~40 lines leave",
    "about 1,200 rows",
    "expected 12", "it feels right", "n = 0..6 gives 1, 2, 4", "up to 9 of `x`, naïve", "no\0t more than 7",
)  # fmt: skip
_COLUMNS: Final = (
    ("Phase", "Status", "Commit", "Notes"), ("Phase", "Status"), ("#", "Phase", "Status", "Commit"),
    ("Status", "Task", "Note"),
    ("No.", "Step", "Owner", "State", "Hash", "Remarks"), ("**Phase**", "`Status`", "Commit", "Notes"),
)  # fmt: skip
_CELLS: Final = (
    "⬚", "✅ Done", "🟡", "Done", "pending", "in progress", "[x]", "[ ]", "a1b2c3d", "⬚ (blocked)",
    "❌ Blocked", "[NOT STARTED]", "-",
    "", "**done**", "done (a1b2c3d)",
)  # fmt: skip
_LINES: Final = (
    "**Status:** ⬚", "**Status:** ✅ Done (9f8e7d6)", "**Status**: pending", "- **Status:** in_progress",
    "Status: complete",
    "**Status:** [IN PROGRESS]", "**Status:**", "> **Status:** blocked",
    "**Status:** ✅ Done (9f8e7d6): 3 tests", "__Status:__ WIP",
)  # fmt: skip
_HEADINGS: Final = (
    "## Phase {} — {}",
    "## Phase {}: {}",
    "### Phase {}. {}",
    "## Phase {} - {} ##",
    "Phase {}: {}\n------",
)
BRACKETS: Final = ("NOT STARTED", "IN PROGRESS", "BLOCKED", "ABANDONED", "COMPLETED", "done", "In Progress")
GLYPHS: Final = "✅⬚🟡❌☑🔄"

# Drawn as one choice each: hypothesis spends its time on the number of choices, not on their size.
_SENTENCES: Final = (
    *_WORDS,
    *(" ".join(words) for words in zip(_WORDS, _WORDS[7:] + _WORDS[:7], _WORDS[::-1], strict=True)),
)
_MARKS: Final = tuple("".join(marks) for count in (1, 2, 3) for marks in product(" xX~-", repeat=count))


@cache
def among(options: Sequence[T]) -> st.SearchStrategy[T]:
    """Choose one of some options; a strategy is costly to make, so each is made once."""
    return st.sampled_from(options)


sentences = st.sampled_from(_SENTENCES)
hashes = st.sampled_from(_HASHES)
notes = st.sampled_from(
    ("3 tests", "half | done", "ends \\", "`code` ", "naïve  note", "see #5", "(a1b2c3d)", "x: y", "[x]")
)


class Written(NamedTuple):
    """A generated plan, and in what manner it states its phases' status."""

    data: bytes
    manner: str


MANNERS: Final = (
    "tracker",
    "rows",
    "bracket",
    "line",
    "glyph",
    "boxes",
    "bare",
    "task",
    "checklist",
    "loose",
    "narrative",
)
PROSE: Final = frozenset({"narrative"})
"""Manners without any place for a phase's status."""
TICKED: Final = frozenset({"checklist", "loose"})
"""Manners in which a phase is done or not done, and nothing in between."""


def _boxes(draw: st.DrawFn, least: int = 0) -> list[str]:
    """A list of boxes, somewhere in quotes and other lists."""
    lead, opener = draw(among(_BOX_LEADS))
    marks = draw(among(_MARKS[:60])) if least or draw(st.booleans()) else ""
    lines = [opener] if opener and marks else []
    for at, mark in enumerate(marks):
        tail = draw(among(("", "", " (c0ffee1)", " <- CURRENT", " (`a1b2c3d`) <- CURRENT", "  ")))
        lines.append(f"{lead}[{mark}] item {at} {draw(sentences)}{tail}")
    return lines


def _bodies(draw: st.DrawFn, number: str, *, boxed: bool | None = None) -> list[str]:
    """What stands under a phase's heading."""
    lines: list[str] = []
    if draw(st.booleans()):
        lines += ["", f"It is about {draw(sentences)}."]
    if boxed or (boxed is None and draw(st.booleans())):
        lines += ["", draw(among(("### Work Items", "**Tasks:**", "")))]
        lines += ["", *_boxes(draw, least=1 if boxed else 0)]
    if draw(st.booleans()):
        lines += ["", "### Design & Constraints", "- `lines` = 52 - 4 + 9", "", "### Acceptance Criteria"]
        lines += [f"- [ ] {draw(among(_CLAIMS))}" for _ in range(draw(st.integers(1, 2)))]
    extra = draw(st.integers(0, 5))
    if extra == 1:
        lines += [
            "",
            "```text",
            "## Phase 9 — fenced",
            "| Phase | Status |",
            "|---|---|",
            "| 9 | ⬚ |",
            "- [ ] no box",
            "```",
        ]
    elif extra == 2:
        lines += ["", "### Verification", "- `python -m pytest -q`"]
    elif extra == 3:
        lines += ["", f"**Depends on:** {number}"]
    elif extra == 4:
        lines += ["", "| a \\| b | Status |", "|:--|--:|", "| 1 | ⬚ |", "x | y"]
    return lines


def _headings(draw: st.DrawFn, number: str, title: str, status: str) -> list[str]:
    """A phase's heading, with what it says of the status."""
    heading: str = draw(among(_HEADINGS))
    return heading.format(number, title + status).split("\n")


def _trackers(draw: st.DrawFn, numbers: Sequence[str], titles: Sequence[str]) -> list[str]:
    """A progress tracker with a cell for every column."""
    columns = draw(among(_COLUMNS))
    prefix = draw(among(("", "", "> ", "   ")))
    bare = draw(st.booleans())
    rows = [columns, tuple("---" for _ in columns)]
    for number, title in zip(numbers, titles, strict=True):
        cells = []
        for name in (column.strip("*`").casefold() for column in columns):
            if name in {"phase", "task", "step"}:
                cells.append(title if columns[0] in {"#", "No."} else f"{number} — {title}")
            elif name in {"#", "no."}:
                cells.append(number)
            elif name in {"status", "state"}:
                cells.append(draw(among(_CELLS)))
            else:
                cells.append(draw(among(("", "`9f8e7d6`", "a \\| b"))))
        rows.append(tuple(cells))
    if bare:
        # Without outer pipes an empty cell at an edge is none, and a hyphen there begins a list.
        return [prefix + " | ".join("–" if cell in {"", "-"} else cell for cell in row) for row in rows]
    return [f"{prefix}| {' | '.join(row)} |" for row in rows]


def _documents(draw: st.DrawFn, manner: str) -> list[str]:
    """The lines of a plan that states its phases' status in one manner."""
    count = draw(st.integers(1, 3))
    numbers = draw(among(_NUMBERS))[:count]
    titles = [draw(among(_TITLES)) for _ in numbers]
    lines = [
        "# Plan: Retry policy",
        "",
        *draw(among(((), ("Some words.", ""), ("## Goal", "Less pain.", "")))),
    ]
    if manner == "task":
        lines = [
            "# Implementation Plan",
            "",
            "- **Task**: 14 - retries",
            "- **Status**: [NOT STARTED]",
            "- **Effort**: 3 hours",
            "",
        ]
        lines += ["## Overview", "Words.", "", "## Implementation Phases", ""]
    if manner in {"tracker", "rows"}:
        lines += ["## Progress Tracker", "", *_trackers(draw, numbers, titles), ""]
    if manner == "narrative":
        openings = ("First", "After that,", "Finally")[:count]
        return lines + [f"{opening} {draw(sentences)}." for opening in openings]
    if manner == "loose":
        return [*lines, *_boxes(draw, least=1)]
    if manner == "rows":
        return lines
    for number, title in zip(numbers, titles, strict=True):
        if manner == "checklist":
            lines += [f"## {title} {number}", *_boxes(draw, least=1), "", draw(sentences), ""]
            continue
        status = ""
        if manner in {"bracket", "task"}:
            status = f" [{draw(among(BRACKETS))}]"
        elif manner == "glyph":
            status = f" {draw(among(GLYPHS))}"
        lines += _headings(draw, number, title, status)
        if manner == "line":
            lines += [*draw(among(((), ("",)))), draw(among(_LINES))]
        lines += [
            *_bodies(draw, number, boxed=True if manner == "boxes" else False if manner == "bare" else None),
            "",
        ]
    return lines


@st.composite
def plans(draw: st.DrawFn) -> Written:
    """A well-formed plan: any format, any line ends, any front matter."""
    manner = draw(among(MANNERS))
    front = draw(among(FRONTS)) if manner != "task" else ()
    lines = [*front, *_documents(draw, manner)]
    ends = draw(among((("\n",), ("\r\n",), ("\r",), ("\n", "\r\n"), ("\r", "\n", "\r\n"))))
    text = _joined(lines, ends)
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    bom = draw(among((b"", b"", _BOM)))
    return Written(bom + text.encode("utf-8", "surrogateescape"), manner)


def _joined(lines: Sequence[str], ends: Sequence[str]) -> str:
    parts: list[str] = []
    before = ""
    for line, end in zip(lines, cycle(ends), strict=False):
        # An empty line between \r and \n would not be one: the two would be one line end.
        before = "\r" if before == "\r" and not line else end
        parts += (line, before)
    return "".join(parts)


def requests(statuses: Sequence[Status]) -> st.SearchStrategy[Request]:
    """Every kind of edit; places are counted modulo what the plan has."""
    places = st.integers(0, 7)
    commits = st.none() | hashes
    return st.one_of(
        st.builds(MarkPhase, places, st.sampled_from(statuses), commits, st.none() | notes, st.booleans()),
        st.builds(MarkPhase, places, st.sampled_from(statuses), commits, st.none(), st.just(value=False)),
        st.builds(MarkItem, places, places, st.booleans(), commits),
        st.builds(Correct, places, places, st.sampled_from((0, 7, 57, 93, 12_000))),
        st.just(Complete()),
        st.just(FillIn()),
    )


_PLANS: Final = plans()
_DAMAGES: Final = st.lists(st.sampled_from(("cut", "flip", "noise", "swap")), min_size=1, max_size=3)
_NOISE: Final = st.text(alphabet="#>-*+|`~[]()<!x 1.\t\\\0:=_&\u2028é🟡", max_size=12)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A plan after accidents: cut off, bits flipped, lines of punctuation between its own."""
    data = bytearray(draw(_PLANS).data)
    for kind in draw(_DAMAGES):
        if not data:
            break
        at = draw(st.integers(0, len(data) - 1))
        if kind == "cut":
            del data[at:]
        elif kind == "flip":
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "swap":
            data[at:] = data[at:] + data[:at]
        else:
            line = data.rfind(b"\n", 0, at) + 1
            data[line:line] = draw(_NOISE).encode() + b"\n"
    return bytes(data)
