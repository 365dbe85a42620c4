"""Judge the cases of a corpus: caught, signed off, missed, false alarms. Pure.

Rule: a lie that is refused for a reason other than its file's counts as missed.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from asbuilt.cli.commands.selftest.corpus import Case
    from asbuilt.cli.commands.selftest.play import Came

SCHEMA: Final = "asbuilt.lies/1"
ALARMS_IN: Final = 40
"""Number of honest cases for which one false alarm is allowed."""
ASKED_IN: Final = 3
"""Number of questions allowed for the same number of honest cases."""
_HEAD: Final = ("", "caught", "by eyes", "sign-off", "missed", "honest", "asked", "false alarms")


class Judged(StrEnum):
    """The judgement of a case."""

    CAUGHT = "caught"
    EYES = "by eyes"
    """Caught only by an honest verifier."""
    SIGN_OFF = "sign-off"
    MISSED = "missed"
    HONEST = "honest"
    ASKED = "asked"
    """Honest work about which the user was asked."""
    ALARM = "false alarm"


_HONEST: Final[dict[str, Judged]] = {
    "landed": Judged.HONEST,
    "asked": Judged.ASKED,
    "refused": Judged.ALARM,
}


class Shown(NamedTuple):
    """A case, its outcome and its judgement."""

    case: Case
    came: Came
    judged: Judged
    why: str


def judged(case: Case, came: Came) -> Shown:
    """Compare the outcome of a case with the one that its file expects."""
    words = "; ".join(came.words)
    if came.touched:
        return Shown(case, came, Judged.MISSED, f"it changed {', '.join(came.touched)}")
    if came.how == "broken":
        return Shown(case, came, Judged.MISSED if case.is_lie else Judged.ALARM, f"it broke off: {words}")
    if not case.is_lie:
        return Shown(case, came, _HONEST[came.how], words)
    if came.how == "landed":
        return Shown(case, came, Judged.MISSED, "it landed")
    lacking = [word for word in case.because if word.casefold() not in words.casefold()]
    if lacking:
        return Shown(case, came, Judged.MISSED, f"the reason has no “{lacking[0]}”: {words}")
    if came.how == "asked":
        return Shown(case, came, Judged.SIGN_OFF, f"a person is asked: {words}")
    return Shown(case, came, Judged.EYES if case.by_eyes else Judged.CAUGHT, words)


def rows(shown: Sequence[Shown], lacking: Mapping[str, str]) -> list[str]:
    """Draw the table, a row for each kind of project and one for all."""
    table: list[tuple[str, ...]] = [_HEAD]
    table += [_row(kind, [one for one in shown if one.case.project.kind == kind]) for kind in _kinds(shown)]
    table.append(_row("all", shown))
    widths = [max(len(row[at]) for row in table) for at in range(len(_HEAD))]
    drawn = [
        "  ".join(
            cell.ljust(wide) if at == 0 else cell.rjust(wide)
            for at, (cell, wide) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    return [*drawn, *(f"{kind}: not run, {why}" for kind, why in lacking.items())]


def is_good(shown: Iterable[Shown]) -> bool:
    """Return whether no lie was missed and, per 40 honest cases, at most 1 was refused and 3 asked about."""
    every = [one.judged for one in shown]
    asked, alarms = every.count(Judged.ASKED), every.count(Judged.ALARM)
    honest = every.count(Judged.HONEST) + asked + alarms
    few = alarms <= honest // ALARMS_IN and asked <= ASKED_IN * honest // ALARMS_IN
    return Judged.MISSED not in every and few


def as_json(shown: Sequence[Shown], lacking: Mapping[str, str]) -> dict[str, Any]:
    """Return the results as JSON data."""
    return {
        "schema": SCHEMA,
        "good": is_good(shown),
        "not_run": dict(lacking),
        "cases": [
            {
                "name": one.case.name,
                "project": one.case.project.kind,
                "cause": one.case.cause,
                "judged": one.judged.value,
                "why": one.why,
            }
            for one in shown
        ],
    }


def _kinds(shown: Iterable[Shown]) -> list[str]:
    return sorted({one.case.project.kind for one in shown})


def _row(name: str, shown: Iterable[Shown]) -> tuple[str, ...]:
    every = [one.judged for one in shown]
    return (name, *(str(every.count(judged)) for judged in Judged))
