"""`asbuilt plan list`: every plan here, and how far it is. Unreadable plans are listed, too. Read-only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple

from asbuilt import wiring
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import Desk, desk_for, show_the_first_step
from asbuilt.cli.ui.clock import now_in, zone_of
from asbuilt.cli.ui.columns import cut_middle, shorten, table
from asbuilt.cli.ui.messages import answer, talk
from asbuilt.cli.ui.screen import WIDTH, printable
from asbuilt.errors import NotFound, PlanUnreadable
from asbuilt.library.search_path import PlanFile, plans
from asbuilt.plan.model import Plan

_NAME_WIDTH: Final = 30
_NEXT_WIDTH: Final = 8


class _Row(NamedTuple):
    """A plan, or why it could not be read."""

    at: PlanFile
    plan: Plan | None
    error: str | None
    changed: datetime | None


@subcommand(
    "list",
    ("asbuilt plan list", "every plan here, and how far it is"),
    ("asbuilt plan list --json", "the same, for a script"),
)
def command(door: Door) -> None:
    """List every plan here and how far it is."""
    desk = desk_for(door)
    rows = [_row(desk, at) for at in plans(desk.library)]
    if door.emitted("asbuilt.plans/1", {"plans": [_as_json(row) for row in rows]}):
        return
    if rows:
        _show(door, rows, now_in(wiring.zone(desk.settings)))
    else:
        door.screen.answer("No plans here yet.")
        show_the_first_step(door, desk)


def _row(desk: Desk, at: PlanFile) -> _Row:
    try:
        changed = datetime.fromtimestamp(at.file.stat().st_mtime, UTC)
        return _Row(at, desk.read(at).plan, None, changed)
    except (PlanUnreadable, NotFound) as error:
        return _Row(at, None, error.what.removeprefix(f"{at.shown} "), None)
    except OSError as error:
        return _Row(at, None, (error.strerror or "cannot be read").lower(), None)


def _show(door: Door, rows: list[_Row], now: datetime) -> None:
    symbols = door.screen.out.symbols
    slugs = [row.at.slug for row in rows]
    # A plan without a valid and unique name is shown by its path.
    names = [
        row.at.slug if row.at.slug and slugs.count(row.at.slug) == 1 else printable(row.at.shown)
        for row in rows
    ]
    names = [cut_middle(name, _NAME_WIDTH, symbols) for name in names]
    cells = [("PLAN", "MARKED", "NEXT", "CHANGED", "TITLE")]
    for name, row in zip(names, rows, strict=True):
        if row.plan is not None:
            progress, following = row.plan.progress, printable(row.plan.next or "-")
            done = f"{progress.done} of {progress.total}" if progress.total else "-"
            following = shorten(following, _NEXT_WIDTH, symbols)
            cells.append((name, done, following, _when(row.changed, now), printable(row.plan.title)))
    door.screen.answer_all(shorten(line, WIDTH, symbols) for line in table(cells))
    lead = f"{symbols.note} "
    for row in rows:
        if row.plan is None:
            answer(door, lead, f"{row.at.shown} {row.error}")
        elif not row.at.slug:
            words = f"{row.at.shown} cannot be typed as a name; rename it: a-z, digits, hyphens; not a1."
            talk(door, lead, words)


def _when(changed: datetime | None, now: datetime) -> str:
    if changed is None:
        return "-"
    zone = zone_of(now)
    local, today = changed.astimezone(zone), now.astimezone(zone).date()
    return f"{local:%H:%M}" if local.date() == today else f"{local:%d %b %Y}"


def _as_json(row: _Row) -> dict[str, object]:
    plan = row.plan
    shown: dict[str, object] = {"path": row.at.shown, "slug": row.at.slug}
    if plan is None:
        return {**shown, "trouble": row.error}
    return {
        **shown,
        "title": plan.title,
        "format": plan.format.value,
        "status": plan.status,
        "digest": plan.digest,
        "intent": plan.intent,
        "next": plan.next,
        "progress": {"done": plan.progress.done, "total": plan.progress.total},
        "changed_at": f"{row.changed:%Y-%m-%dT%H:%M:%SZ}" if row.changed else None,
    }
