"""Find and draw attempts that said done and were refuted by a check or by the verifier. Pure.

Rule: the agent's claim, in quotation marks, and the refutation are shown together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.cli.ui.screen import Pen, cut, printable
from asbuilt.events.attempts import AttemptEnded, ChecksDone, VerdictGiven

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from asbuilt.proof.evidence import Evidence

_WE: Final = "asbuilt ran"
_SEEN: Final = "asbuilt sees"
_LABEL: Final = 14
_INDENT: Final = 6


class Caught(NamedTuple):
    """An attempt that said done, and was refuted."""

    phase: str
    number: int
    says: str
    against: tuple[tuple[str, str], ...]
    """Label of the source and its finding: `asbuilt ran`, `asbuilt sees` or `verifier says`."""


def caught(told: Iterable[Entry], evidence: Callable[[str], Sequence[Evidence]]) -> list[Caught]:
    """Return each attempt in a run's events that said done and was refuted by a check or the verifier."""
    found: list[Caught] = []
    says = ""
    for entry in told:
        match entry.event:
            case AttemptEnded() as event:
                says = event.says if event.ending == "done" else ""
            case ChecksDone() as event if says and event.outcome != "PASS":
                shown = evidence(event.evidence) if event.evidence else ()
                ran = tuple((_WE, _shown(one)) for one in shown if one.outcome != "PASS")
                seen = tuple((_SEEN, failure) for failure in event.failures)
                found.append(Caught(event.phase, event.number, says, ran or seen))
            case VerdictGiven() as event if says and event.outcome != "PASS":
                judged = tuple(("verifier says", str(failure)) for failure in event.failures)
                found.append(Caught(event.phase, event.number, says, judged))
            case _:
                pass
    return found


def _shown(one: Evidence) -> str:
    code = f"exit {one.exit_code}, but " if one.exit_code == 0 else ""
    return f"{one.command} on a clean checkout: {code}{one.why}"


def block(pen: Pen, one: Caught, *, agent: str, title: str) -> list[str]:
    """Return the rows of a refuted attempt: a headline, the claim, the findings, and what happens next."""
    symbol, shown = pen.symbols.failed, cut(printable(title), pen.width - 20, symbols=pen.symbols)
    lead = f"{symbol} {one.phase:<4}{shown}   "
    first, *rest = pen.hanging(lead, f"`NOT PROVEN:` the agent says done, {_who(one)}", under=_INDENT)
    rows = [pen.red(symbol) + first.removeprefix(symbol), *rest]
    for label, text in (
        (f"{agent} says", f'"{one.says}"'),
        *one.against,
        ("so", f"sent back to the agent (attempt {one.number + 1})"),
    ):
        lead = f"{'':<{_INDENT}}{label:<{_LABEL}}"
        words = (cut(printable(word), pen.width - len(lead), symbols=pen.symbols) for word in text.split())
        rows += pen.hanging(lead, " ".join(words), commands=False)
    return rows


def _who(one: Caught) -> str:
    against = dict(one.against)
    if _WE in against:
        return "a check disagrees"
    return "its change disagrees" if _SEEN in against else "another agent disagrees"
