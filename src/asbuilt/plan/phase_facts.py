"""Facts of one phase, read from its blocks: items, criteria, checks, dependencies, status."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from asbuilt.plan.checks import checks_of
from asbuilt.plan.graph import DEPENDS_ON, Reference, Stated, references_in
from asbuilt.plan.markdown.blocks import Block, Fence, Heading, Item, column_of
from asbuilt.plan.markdown.items import hash_tail, item_text, without_comments
from asbuilt.plan.markdown.sections import Piece, pieces
from asbuilt.plan.markdown.source import Source, Span
from asbuilt.plan.model import Box, Check, Criterion, Execution, Spot, Status, WorkItem
from asbuilt.plan.numeric_claims import Rules, bind, rules_in, stated_in
from asbuilt.plan.numeric_claims import Stated as StatedClaim
from asbuilt.plan.problems import Problem, Rule, problem

VERIFYING: Final = frozenset({"verify", "commands"})
_NO_WORK: Final = frozenset({"criteria", "verify", "commands", "dependencies", "design", "log", "status"})
_STALE: Final = re.compile(
    r"(?i)\bdrafted before\b|\bmay need (?:a )?refresh\b|\bbased on\b[^.\n]{0,200}\bdesign, not actual code\b"
)
"""Sentences that say that a phase was written before the code that it builds on."""
_STALE_HINTS: Final = ("drafted before", "may need", "based on")


class Facts(NamedTuple):
    """Facts that a section states, before they are compared with the rest of the plan."""

    work_items: tuple[WorkItem, ...]
    criteria: tuple[Criterion, ...]
    checks: tuple[Check, ...]
    verifies: int | None
    """1-based line of its Verification; None if it has none."""
    dependencies: Stated
    execution: Execution
    delegate: str | None
    spot: Spot | None
    commit: str | None
    problems: tuple[Problem, ...]


def read_phase(source: Source, blocks: Sequence[Block], boxes: Mapping[int, Box]) -> Facts:
    """Read one section; `boxes` are those of the whole document, by line."""
    found = list(pieces(blocks))
    items = tuple(_work_items(found, boxes))
    execution, delegate, problems = _execution(found)
    problems += [
        problem(item.line, Rule.DROPPED_ITEM, f'"{item.text}" is marked as dropped')
        for item in items
        if item.box is not None and item.box.mark == "-"
    ]
    problems += [
        problem(piece.line + 1 + offset, Rule.STALE_TEXT, f'says "{phrase.group()}"')
        for piece in found
        if piece.part in {None, "dependencies", "design"} and not isinstance(piece.block, Heading | Fence)
        if any(hint in piece.text.casefold() for hint in _STALE_HINTS)
        for offset, text in enumerate(piece.text.split("\n"))
        for phrase in _STALE.finditer(text)
    ]
    commits = [
        commit for item in found if isinstance(item.block, Item) and (commit := hash_tail(item.block.text))
    ]
    verifies = next((piece.line + 1 for piece in found if piece.part in VERIFYING), None)
    return Facts(
        work_items=items,
        criteria=_criteria(source, found, boxes),
        checks=checks_of(found, VERIFYING),
        verifies=verifies,
        dependencies=_dependencies(found),
        execution=execution,
        delegate=delegate,
        spot=_status_line(source, found),
        commit=commits[-1] if commits else None,
        problems=tuple(problems),
    )


def _work_items(found: Iterable[Piece], boxes: Mapping[int, Box]) -> Iterable[WorkItem]:
    for piece in found:
        block = piece.block
        if not isinstance(block, Item) or piece.part in _NO_WORK:
            continue
        box = boxes.get(block.line) if block.box is not None else None
        if box is None and (piece.part != "work" or block.depth > 0 or not block.text):
            continue
        yield WorkItem(text=item_text(block.text), done=block.box in {"x", "X"}, line=block.line + 1, box=box)


def _criteria(source: Source, found: Sequence[Piece], boxes: Mapping[int, Box]) -> tuple[Criterion, ...]:
    bullets = [
        piece.block
        for piece in found
        if piece.part == "criteria"
        and isinstance(piece.block, Item)
        and (piece.block.depth == 0 or piece.block.box is not None)
    ]
    if not bullets:
        return ()
    rules = Rules(
        [
            rule
            for piece in found
            if piece.part == "design" and not isinstance(piece.block, Heading | Fence)
            for rule in rules_in(piece.text)
        ]
    )
    stated = [_stated(source, bullet) for bullet in bullets]
    alone = sum(claim is not None for claim in stated) == 1
    return tuple(
        Criterion(
            text=item_text(bullet.text),
            done=bullet.box in {"x", "X"},
            line=bullet.line + 1,
            claim=None if claim is None else bind(*claim, bullet.text, rules, alone=alone),
            box=boxes.get(bullet.line) if bullet.box is not None else None,
        )
        for bullet, claim in zip(bullets, stated, strict=True)
    )


def _stated(source: Source, bullet: Item) -> tuple[StatedClaim, Span] | None:
    """Find a bullet's claim, and the span of its literal in the file."""
    for offset, line in enumerate(bullet.text.split("\n")):
        claim = stated_in(without_comments(line, blank=True))
        if claim is None:
            continue
        column = column_of(source.lines[bullet.line + offset], line)
        if column < 0:
            return None
        return claim, source.at(bullet.line + offset, column + claim.start, column + claim.end)
    return None


def _dependencies(found: Iterable[Piece]) -> Stated:
    stated: list[tuple[list[Reference], bool, bool]] = []
    for piece in found:
        if isinstance(piece.block, Heading | Fence):
            continue
        if piece.part == "dependencies":
            stated.append(references_in(piece.text, piece.line + 1, bare=True))
        elif piece.part not in _NO_WORK and "depends" in (text := piece.text.lower()):
            sentences = DEPENDS_ON.finditer(text)
            stated += [references_in(sentence.group(1), piece.line + 1, bare=False) for sentence in sentences]
    references = tuple(reference for found_here, _, _ in stated for reference in found_here)
    return Stated(references, any(before for _, before, _ in stated), any(says for _, _, says in stated))


def _execution(found: Iterable[Piece]) -> tuple[Execution, str | None, list[Problem]]:
    for piece in found:
        if piece.part != "execution" or not piece.text.strip():
            continue
        word, _, rest = piece.text.strip(" `*").partition(" ")
        kind = word.casefold().strip(".`*")
        if kind == "delegate" and rest.strip():
            return "delegate", rest.strip(" `"), []
        if kind == "worktree":
            return "worktree", None, []
        if kind == "direct":
            return "direct", None, []
        reason = "delegate names no command" if kind == "delegate" else f'"{word}" is not known'
        return "worktree", None, [problem(piece.line + 1, Rule.UNKNOWN_EXECUTION, f"Execution: {reason}")]
    return "worktree", None, []


def _status_line(source: Source, found: Iterable[Piece]) -> Spot | None:
    for piece in found:
        if piece.part != "status" or isinstance(piece.block, Heading):
            continue
        value = piece.text.split("\n", 1)[0].strip()
        column = column_of(source.lines[piece.line], value)
        if column >= 0:
            return Spot(kind="line", span=source.at(piece.line, column, column + len(value)), text=value)
    return None


def status_from_boxes(items: Sequence[WorkItem]) -> Status | None:
    """Return a phase's status by its boxes alone; None without boxes."""
    marks = [item.box.mark for item in items if item.box is not None]
    if not marks:
        return None
    if all(mark in "xX" for mark in marks):
        return Status.DONE
    return Status.IN_PROGRESS if any(mark in "xX~" for mark in marks) else Status.PENDING
