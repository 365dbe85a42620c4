"""A plan as a picture in 80 columns: waves side by side if that is exact and fits, else one phase a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Final

from asbuilt.cli.ui.columns import pad, shorten, width
from asbuilt.cli.ui.screen import WIDTH, Pen, printable
from asbuilt.plan.model import Phase, Plan, Status
from asbuilt.plan.names import slugify

_LEAST_TITLE: Final = 16
_NAMES_SHOWN: Final = 4

_JOINTS: Final = "      └├  ┘┤─┬┴┼"
"""By the lines that meet: left counts 8, right 4, above 2, below 1."""


def draw(plan: Plan, pen: Pen) -> list[str]:
    """Draw the phases."""
    phases = {phase.id: phase for phase in reversed(plan.phases)}
    columns = [[phases[phase_id] for phase_id in wave] for wave in plan.waves]
    drawn = sum(len(column) for column in columns) == len(plan.phases)
    if drawn and len(columns) > 1 and any(len(column) > 1 for column in columns) and _is_exact(columns):
        picture = _side_by_side(columns, pen)
        if all(width(row) <= WIDTH for row in picture):
            return picture
    return _one_a_line(plan, pen)


def _is_exact(columns: Sequence[Sequence[Phase]]) -> bool:
    """Return whether every phase waits for the whole wave before it; only then are the joints correct."""
    return all(
        set(phase.depends_on.on) >= {before.id for before in earlier}
        for earlier, later in pairwise(columns)
        for phase in later
    )


def symbol(pen: Pen, status: Status) -> str:
    """Return the symbol for a status in a file. It is a claim, so it is never green."""
    symbols = pen.symbols
    return {
        Status.DONE: symbols.proven,
        Status.IN_PROGRESS: symbols.working,
        Status.PENDING: symbols.not_started,
        Status.BLOCKED: symbols.failed,
        Status.UNKNOWN: symbols.waits,
    }[status]


def _cell(pen: Pen, phase: Phase) -> str:
    return f"{symbol(pen, phase.status)} {printable(phase.id)} {printable(phase.title)}"


def _side_by_side(columns: Sequence[Sequence[Phase]], pen: Pen) -> list[str]:
    height = max(len(column) for column in columns)
    rows = ["  "] * height
    head = "  "
    for at, column in enumerate(columns):
        cells = [_cell(pen, phase) for phase in column]
        widest = max(width(cell) for cell in [*cells, f"wave {at + 1}"])
        later = len(columns[at + 1]) if at + 1 < len(columns) else 0
        head += pad(f"wave {at + 1}", widest + 5)
        for row in range(height):
            cell = cells[row] if row < len(cells) else ""
            rows[row] += cell
            if later:
                rows[row] += _joint(row, len(cells), later, widest - width(cell))
    rows = [row.rstrip() for row in [head, *rows]]
    if pen.symbols.proven != "✓":
        rows = [row.replace("─", "-").translate(dict.fromkeys(map(ord, "┬┴┼└├┘┤"), "+")) for row in rows]
    return rows


def _joint(row: int, left: int, right: int, gap: int) -> str:
    bottom = max(left, right) - 1
    comes, goes = row < left, row < right
    meets = _JOINTS[8 * comes + 4 * goes + 2 * (0 < row <= bottom) + (row < bottom)]
    return f" {('─' if comes else ' ') * gap}{'─' if comes else ' '}{meets}{'─' if goes else ' '} "


def _one_a_line(plan: Plan, pen: Pen) -> list[str]:
    waves = {phase_id: at for at, wave in enumerate(plan.waves, 1) for phase_id in wave}
    needs = _needs(plan, waves)
    # In a sequential plan the order shows the wave; a wave number would repeat it.
    abreast = any(len(wave) > 1 for wave in plan.waves) or len(waves) < len(plan.phases)
    names = [f"wave {waves[phase.id]}" if phase.id in waves else "no wave" for phase in plan.phases]
    lead = max((len(name) for name in names), default=0) if abreast else 0
    ids = max((width(printable(phase.id)) for phase in plan.phases), default=1)
    states = max((len(state_of(phase)) for phase in plan.phases), default=1)
    fixed = 2 + (lead + 1 if abreast else 0) + 2 + ids + 2
    tails = [_tail(plan, phase, states, needs.get(phase.id, ()), WIDTH - fixed) for phase in plan.phases]
    titles = [_title(phase) for phase in plan.phases]
    room = min(max(map(width, titles), default=0), WIDTH - 2 - fixed - max(map(width, tails), default=0))
    rows = []
    for name, phase, title, tail in zip(names, plan.phases, titles, tails, strict=True):
        head = f"  {name:<{lead}} " if abreast else "  "
        head += f"{symbol(pen, phase.status)} {pad(printable(phase.id), ids)}  "
        middle = f"{pad(shorten(title, room, pen.symbols), room)}  " if room > 0 else ""
        rows.append(f"{head}{middle}{tail}".rstrip())
    return rows


def _title(phase: Phase) -> str:
    """Return a phase's title, or an empty string if its id says the same."""
    return "" if slugify(phase.title) == phase.id else printable(phase.title)


def _tail(plan: Plan, phase: Phase, states: int, needs: Sequence[str], room: int) -> str:
    """Return the state and needs of a phase; less important parts are left out if there is no room."""
    title = min(width(_title(phase)), _LEAST_TITLE)
    room -= title + 2 if title else 0
    parts = [f"{state_of(phase):<{states}}"]
    wanted = ["next"] if phase.id == plan.next else []
    wanted += [f"after {_names(needs)}"] if needs else []
    boxed = [item.done for item in phase.work_items]
    wanted += [f"{sum(boxed)}/{len(boxed)} items"] if len(boxed) > 1 else []
    wanted += [f"{len(phase.checks)} check{'s' if len(phase.checks) > 1 else ''}"] if phase.checks else []
    wanted += ["UI"] if phase.touches_ui else []
    kept: list[str] = []
    for part in wanted:
        if width("  ".join([*parts, *kept, part])) <= room:
            kept.append(part)
    order = ("items", "check", "checks", "UI", "after", "next")
    kept.sort(key=lambda part: next(at for at, word in enumerate(order) if word in part.split()))
    return "  ".join(parts + kept)


def _names(ids: Sequence[str]) -> str:
    shown = [printable(phase_id) for phase_id in ids[:_NAMES_SHOWN]]
    more = len(ids) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _needs(plan: Plan, waves: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """Return direct needs of phases that do not wait for the whole wave before; no transitive needs."""
    place = {phase_id: at for at, phase_id in enumerate(waves)}
    behind: dict[str, int] = {}
    by_id = {phase.id: phase for phase in reversed(plan.phases)}
    needs: dict[str, tuple[str, ...]] = {}
    for phase_id, wave in waves.items():
        on = [need for need in by_id[phase_id].depends_on.on if need in place]
        behind[phase_id] = reduce(or_, (behind[need] | 1 << place[need] for need in on), 0)
        further = reduce(or_, (behind[need] for need in on), 0)
        direct = tuple(need for need in on if not further >> place[need] & 1)
        before = plan.waves[wave - 2] if wave > 1 else ()
        if set(direct) != set(before):
            needs[phase_id] = direct
    for phase in plan.phases:
        if phase.id not in waves:
            needs[phase.id] = phase.depends_on.on
    return needs


def state_of(phase: Phase) -> str:
    """Return the status of a phase in words, and its commit."""
    words = phase.status.value.replace("_", " ")
    return f"{words} {phase.commit[:7]}" if phase.commit else words
