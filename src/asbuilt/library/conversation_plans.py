"""Plans as shown in a conversation: read from disk each time; the journal overrides the file's status marks.

Rule: a plan that cannot be read is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from asbuilt.errors import NotFound, PlanUnreadable
from asbuilt.events.event import Entry
from asbuilt.library.name_resolution import find
from asbuilt.library.read_plan import Opened, open_plan
from asbuilt.library.repository_discovery import Repository
from asbuilt.library.search_path import PlanFile, describe, library_around, plans
from asbuilt.lifecycle.status.plan_state import done_now, fold_plan
from asbuilt.plan.markdown.statuses import read_status
from asbuilt.plan.model import Phase, Status
from asbuilt.session.plan_facts import PlanFacts
from asbuilt.settings import Settings

Journal = Callable[[Settings, Repository, str], Iterable[Entry]]
"""What the journal has of a plan of a repository, by its path in it."""

_ROOM: Final = 8_000
"""Maximum text of a plan: with the text around it, Claude Code passes this on uncut."""
_GIVEN_UP: Final = ("cancel", "abandon", "drop", "supersede", "reject", "archive")


class Plans:
    """The plans around a folder."""

    def __init__(self, cwd: str, environ: Mapping[str, str], journal: Journal) -> None:
        self._journal = journal
        self._library, self._settings = library_around(Path(cwd), environ)
        self._repository = self._library.repository

    def look(self, path: str) -> PlanFacts | None:
        """Read a plan; None when it is missing or unreadable."""
        try:
            return self._facts(describe(self._library, Path(path)))
        except (NotFound, PlanUnreadable):
            return None

    def named(self, name: str) -> PlanFacts:
        """Read the plan that a user named; raises if none or several match, or it is unreadable."""
        return self._facts(find(self._library, name))

    def every(self) -> list[PlanFacts]:
        """Read every plan that is readable."""
        found = [self.look(str(plan.file)) for plan in plans(self._library)]
        return [plan for plan in found if plan is not None]

    def newest(self) -> PlanFacts | None:
        """Read the most recently changed plan of this repository that is not over.

        Plans outside the repository may belong to another project; they are used only by name.
        """
        own = (plan for plan in plans(self._library) if plan.repository)
        newest_first = sorted(own, key=lambda plan: plan.changed_at, reverse=True)
        found = (self.look(str(plan.file)) for plan in newest_first)
        return next((plan for plan in found if plan is not None and not plan.is_over), None)

    def _facts(self, at: PlanFile) -> PlanFacts:
        opened = open_plan(self._library, at)
        plan = opened.plan
        done = self._done(opened)
        left = [phase for phase in plan.phases if phase.id not in done]
        current = _current(left, plan.next)
        items = tuple(text for phase in left for text in _open(phase))
        over = _is_over(plan.status) or bool(plan.phases and not left)
        text, is_whole = _text(opened, current)
        return PlanFacts(
            path=str(at.file),
            shown=at.shown,
            name=at.slug or at.shown,
            title=plan.title,
            open=() if over else items,
            phase="" if over or current is None else current.id,
            is_in_work=not over and current is not None and current.status is Status.IN_PROGRESS,
            item="" if over or current is None else next(iter(_open(current)), ""),
            is_over=over,
            text=text,
            is_whole=is_whole,
            changed_at=at.changed_at,
        )

    def _done(self, opened: Opened) -> frozenset[str]:
        """Return the done phases: by the journal for phases it knows, else by the plan's marks."""
        marked = opened.plan.marked_done
        if self._repository is None or not opened.at.repository:
            return marked
        events = self._journal(self._settings, self._repository, opened.at.shown)
        return done_now(fold_plan(events), marked)


def _current(left: list[Phase], following: str | None) -> Phase | None:
    """Return the current phase: one in progress, else the plan's next, else the first that is left."""
    for fits in (lambda task: task.status is Status.IN_PROGRESS, lambda task: task.id == following):
        for phase in left:
            if fits(phase):
                return phase
    return left[0] if left else None


def _open(phase: Phase) -> tuple[str, ...]:
    """List the open items of an unfinished phase; the phase's title if all items are ticked."""
    return tuple(item.text for item in phase.work_items if item.is_open) or (phase.title,)


def _is_over(status: str | None) -> bool:
    word = (status or "").strip(" []()*_").casefold()
    return bool(word) and (read_status(word) is Status.DONE or word.startswith(_GIVEN_UP))


def _text(opened: Opened, current: Phase | None) -> tuple[str, bool]:
    """Return the plan's text, or for a long plan its current phase, cut at the limit; and if it is whole."""
    whole = opened.plan.source.text
    if len(whole) <= _ROOM:
        return whole, True
    part = opened.plan.verbatim(current).decode(errors="replace") if current is not None else whole
    return part if len(part) <= _ROOM else part[:_ROOM].rpartition("\n")[0] + "\n…", False
