"""No text makes the reader slow: a byte costs a small factor of an ordinary plan's byte, in the same run.

An expression that can begin anywhere in a long run, or a loop inside a loop, exceeds the factor many times.
"""

from __future__ import annotations

from functools import cache
from time import process_time

import pytest

from asbuilt.plan.editing.edit import mark_phase
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read
from tests.plan.cases import load_all

SIZE = 30_000
FACTOR = 20
CANONICAL = next(case.data for case in load_all() if case.name == "canonical-tracker")
PHASE = b"# T\n\n## Phase 1: A\n"
CRITERIA = PHASE + b"### Acceptance Criteria\n- "
DESIGN = CRITERIA + b"1 line\n### Design\n- "
VERIFY = PHASE + b"### Verification\n- "
ROW = b"|Phase|Status|\n|-|-|\n|"

REPEATED = {
    "quotes": ">", "quote lines": ">\n", "spaced quotes": "> ", "deep quotes": ">" * 25 + " a\n",
    "dashes": "-", "spaced dashes": "- ",
    "items": "- x\n", "pipes": "|", "pipe lines": "|\n", "tables": "|a|b|\n|-|-|\n|1|2|\n\n",
    "brackets": "[", "links": "[](", "images": "![",
    "one phase": "# Phase 1\n", "phases with tables": "## Phase 1: x\n|Phase|Status|\n|-|-|\n|1|2|\n\n",
    "boxes": "- [ ] x\n", "sections": "## a\n",
    "sections with boxes": "## a\n- [ ] b\n", "backticks": "`", "one word": "a", "spaces": " ",
    "tabs": "\t", "digits": "9", "lines": "a\n",
    "blank lines": "\n", "carriage returns": "\r", "nuls": "\0", "separators": "\u2028",
    "references": "[a]: b\n", "open references": "[a",
    "comments": "<!--\n", "tags": "<a ", "fences": "```\n", "underlines": "a\n==\n", "rules": "* * *\n",
    "ordered": "1. a\n", "lazy quotes": "> a\nb\n",
    "stars": "*", "underscores": "_", "status words": "status", "progress": "progress ", "paths": "a/",
    "audits": "<!-- Auto-corrected ",
    "currents": "<- CURRENT ", "first": "First a. ", "firsts and headings": "First a.\n# b\n",
    "sentences": ". ", "unclosed front matter": "---\na\n",
}  # fmt: skip
FOLLOWED = {
    "ticks of a check": (VERIFY, "`", b""), "ticks in a check": (VERIFY + b"`", "``a ", b""),
    "assignments": (VERIFY + b"`", "A=1 ", b"`"),
    "checks": (PHASE + b"### Verification\n", "- `a b`\n", b""),
    "here documents": (PHASE + b"### Verification\n```sh\n", "<<", b""),
    "dependencies": (PHASE + b"**Depends on:** phases ", "9,", b""), "ranges": (PHASE + b"**Depends on:** ",
    "1-1, ", b""),
    "depends": (PHASE, "Depends on ", b""), "stale": (PHASE, "based on ", b""), "label": (PHASE + b"**",
    " ", b"x"), "labels": (PHASE, "**a: ", b""),
    "claimed digits": (CRITERIA, "9", b""), "claimed thousands": (CRITERIA + b"1", ",000", b""),
    "claimed ranges": (CRITERIA, "1 - ", b""),
    "sum": (DESIGN, "1 + ", b"1x"), "differences": (DESIGN, "1-1", b"x"),
    "extracted lines": (DESIGN, "lines 1 ", b""),
    "box and spaces": (b"- [ ] a", " ", b"x"), "box and comments": (PHASE + b"- [ ] -->", "<!--", b""),
    "box and arrows": (b"- [ ] CURRENT ", "<- ", b""),
    "heading and spaces": (PHASE + b"## a", " ", b"b\n"), "heading and bangs": (PHASE + b"### a",
    "!", b"a\n"), "phase and bangs": (b"## Phase 1", "!", b"x\n"),
    "phase and arrows": (b"## Phase 1: a", " →", b"x\n"),
    "phase and brackets": (b"## Phase 1: a", "[done", b"\n"),
    "status lines": (PHASE, "**Status:** x\n", b""), "linked cell": (ROW, "[](", b"|x|\n"),
    "bracketed cell": (ROW, "[", b"|x|\n"), "empty rows": (b"|a|b|\n|-|-|\n", "|\n", b""),
    "rows": (ROW[:-1], "|1|x|\n", b""),
    "front matter": (b"---\n", "a: b\n", b"---\n"), "metadata": (b"# T\n", "- **Task**: x\n", b""),
    "a wide table": (b"|a" * 2000 + b"\n" + b"|-" * 2000 + b"\n", "|a|\n", b""),
    "reopened spaces": (PHASE + b"words", " ", b"x\n"), "ui paths": (PHASE, "a.b/", b""),
}  # fmt: skip


def filled(before: bytes, text: str, after: bytes) -> bytes:
    piece = text.encode()
    return before + piece * (SIZE // len(piece)) + after


INPUTS = {
    **{name: filled(b"", text, b"") for name, text in REPEATED.items()},
    **{name: filled(*parts) for name, parts in FOLLOWED.items()},
    "phases": b"".join(b"## Phase %d: a\n" % number for number in range(SIZE // 17)),
    "tracker": ROW[:-1] + b"".join(b"|%d - a|done|\n" % number for number in range(SIZE // 15)),
    "claims and rules": CRITERIA[:-2]
    + b"- `k`: exactly 3\n" * (SIZE // 34)
    + b"### Design\n"
    + b"- `k` = 1 + 2\n" * (SIZE // 28),
    "nested items": b"".join(b"  " * (number % 40) + b"- a\n" for number in range(SIZE // 44)),
    "commands for all": b"## Validation Commands\n"
    + b"- `a b`\n" * (SIZE // 16)
    + b"## Phase 1: a\n" * (SIZE // 28),
}


def cost(data: bytes) -> float:
    """Return the seconds that a byte costs, at best."""
    times = []
    for _ in range(2):
        start = process_time()
        read(data)
        times.append(process_time() - start)
    return min(times) / len(data)


@cache
def ordinary() -> float:
    return cost(CANONICAL * (SIZE // len(CANONICAL)))


@pytest.mark.parametrize("name", INPUTS)
def test_a_byte_costs_at_most_a_small_factor_of_an_ordinary_one(name: str) -> None:
    assert cost(INPUTS[name]) < FACTOR * ordinary(), f"{name}: find the loop or the expression that goes back"


def test_marking_many_boxes_costs_a_small_factor_of_reading_them() -> None:
    data = b"# T\n\n## A\n" + b"- [ ] x\n" * (SIZE // 8)
    plan = read(data)
    start = process_time()
    mark_phase(plan, "a", Status.DONE, commit="a1b2c3d")
    assert process_time() - start < FACTOR * cost(data) * len(data)
