"""Parse the words behind `run-plan`: `plans/F.md finish auto pr`, `every 4h now`, `stop`. Pure.

Rule: the plan's path is found before any word, so that a word in a path is never a command. Text that is not
understood is refused as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple


class Word(StrEnum):
    """Keywords, in any case."""

    STOP = "stop"
    NEXT = "next"
    STATUS = "status"
    FINISH = "finish"
    NOW = "now"
    AUTO = "auto"
    EVERY = "every"
    PR = "pr"
    DIRECT = "direct"


class Unclear(NamedTuple):
    """Words that cannot be executed: the problem, the reason, and what was understood."""

    what: str
    why: str
    understood: str


_WORDS: Final = frozenset(word.value for word in Word)
_ASKED: Final = frozenset({Word.STOP, Word.NEXT, Word.STATUS})
"""Keywords that outrank all others; `stop` outranks them all."""
_PHASE: Final = re.compile(r"[A-Za-z]{1,3}[0-9]{1,6}|[0-9]{1,6}(?:\.[0-9]{1,6})*[A-Za-z]?")
_INTERVAL: Final = re.compile(r"[0-9]+[A-Za-z]+")
"""A time in one word; other times extend to the next keyword."""
_LONGEST: Final = 64
"""Maximum number of words in a plan's path."""


class _Atom(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def word(self) -> Word | None:
        found = self.text.lower()
        return Word(found) if found in _WORDS else None

    @property
    def is_path(self) -> bool:
        return "/" in self.text or self.text.lower().endswith(".md")


class _Read(NamedTuple):
    plan: str | None
    words: frozenset[Word]
    phases: tuple[str, ...]
    schedules: tuple[str, ...]
    unknown: tuple[str, ...]


def parse(text: str, is_plan: Callable[[str], bool]) -> tuple[str, ...] | Unclear:
    """Return the arguments of `asbuilt` that the words mean.

    `is_plan` returns whether a text is the path of an existing plan. `stop` cancels only schedules; `every`
    is always `--auto`, since no user attends.
    """
    read = _read(text, is_plan)
    unclear = _unclear(read)
    if unclear is not None:
        return unclear
    # A path that starts with a hyphen must not be read as an option.
    plan = [] if read.plan is None else [f"./{read.plan}" if read.plan.startswith("-") else read.plan]
    if Word.STOP in read.words:
        return ("stop", *(plan or ["--all"]), "--schedule")
    if read.words & _ASKED:
        return ("status", *plan)
    if read.words == {Word.NOW} and not read.phases:
        return ("run", *plan)
    if not plan:
        why = "asbuilt runs only a plan that you name." if text.strip() else "The command is empty."
        return Unclear("no plan is named", why, _understood(read))
    if read.schedules:
        flags = ["--auto", "--every", read.schedules[0], *_flags(read, Word.NOW)]
    else:
        flags = [*read.phases, *_flags(read, Word.FINISH, Word.AUTO)]
    return ("run", *plan, *flags, *_flags(read, Word.PR, Word.DIRECT))


def _flags(read: _Read, *words: Word) -> list[str]:
    return [f"--{word}" for word in words if word in read.words]


def _read(text: str, is_plan: Callable[[str], bool]) -> _Read:
    atoms = [_Atom(found.group(), *found.span()) for found in re.finditer(r"\S+", text)]
    plan, first, behind = _plan_in(text, atoms, is_plan)
    words: set[Word] = set()
    phases: list[str] = []
    unknown: list[str] = []
    schedules: list[list[str]] = []
    is_time = False
    for at, atom in enumerate(atoms):
        if first <= at < behind:
            is_time = False
        elif (word := atom.word) is not None:
            words.add(word)
            is_time = word is Word.EVERY
            schedules += [[]] * is_time
        elif is_time:
            schedules[-1] = [*schedules[-1], atom.text]
            is_time = len(schedules[-1]) > 1 or _INTERVAL.fullmatch(atom.text) is None
        elif plan is None:
            # No path here is a plan: this may be a plan's name; the caller that opens it finds out.
            plan = atom.text
        elif _PHASE.fullmatch(atom.text):
            phases.append(atom.text)
        else:
            unknown.append(atom.text)
    return _Read(
        plan, frozenset(words), tuple(phases), tuple(" ".join(timer) for timer in schedules), tuple(unknown)
    )


def _plan_in(
    text: str, atoms: Sequence[_Atom], is_plan: Callable[[str], bool]
) -> tuple[str | None, int, int]:
    """Find the first position where a plan's path starts, and the longest path there."""
    for first in range(len(atoms)):
        for behind in range(min(len(atoms), first + _LONGEST), first, -1):
            named = _unquoted(text[atoms[first].start : atoms[behind - 1].end])
            if any(atom.is_path for atom in atoms[first:behind]) and is_plan(named):
                return named, first, behind
    return None, 0, 0


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def _unclear(read: _Read) -> Unclear | None:
    understood = _understood(read)
    if read.unknown:
        listed = ", ".join(f'"{word}"' for word in read.unknown)
        return Unclear(f"{listed} means nothing here", "asbuilt does not guess.", understood)
    if read.words & _ASKED:
        return None
    if {Word.FINISH, Word.EVERY} <= read.words:
        why = "finish runs all phases that are left at once; every runs the next one each time."
        return Unclear("finish and every cannot be combined", why, understood)
    if Word.EVERY in read.words and read.phases:
        why = "Each time, the next phase that is left is run."
        return Unclear(f"every cannot be combined with phase {read.phases[0]}", why, understood)
    for name, given in (("phase", read.phases), ("every", read.schedules)):
        if len(given) > 1:
            return Unclear(
                f"{name} is given {len(given)} times: {', '.join(given)}", "Give it once.", understood
            )
    if {Word.PR, Word.DIRECT} <= read.words:
        return Unclear("pr and direct cannot be combined", "A plan lands one way.", understood)
    if read.schedules == ("",):
        return Unclear("every has no time", "Add a time: 4h, day at 9am.", understood)
    return None


def _understood(read: _Read) -> str:
    parts = [
        f"plan {read.plan}" if read.plan else "no plan",
        *(f"phase {phase}" for phase in read.phases),
        *(word.value for word in Word if word in read.words and word is not Word.EVERY),
        *(f"every {schedule}".rstrip() for schedule in read.schedules),
    ]
    return ", ".join(parts)
