"""Words that our own looking did not bear out: who said what, what asbuilt ran, and what came of it. Pure.

The one rule: both sides stand next to each other, the agent's in quotation marks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.cli.screen import cut, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from asbuilt.cli.screen import Pen
    from asbuilt.proof.evidence import Evidence

_WE: Final = "asbuilt ran"
_SEEN: Final = "asbuilt sees"
_LABEL: Final = 14
_INDENT: Final = 6


class Caught(NamedTuple):
    """One attempt that said done, and was not."""

    phase: str
    number: int
    says: str
    against: tuple[tuple[str, str], ...]
    """Who disagrees, and with what."""


def caught(
    told: Iterable[tuple[str, Mapping[str, Any]]], evidence: Callable[[str], Sequence[Evidence]]
) -> list[Caught]:
    """Find in a run's events every attempt that said done and was refuted by a check or by a verifier."""
    found: list[Caught] = []
    says = ""
    for kind, data in told:
        if kind == "attempt.ended":
            says = str(data.get("says", "")) if data["ending"] == "done" else ""
        elif not says or data.get("outcome") == "PASS":
            continue
        elif kind == "checks.done":
            ran = tuple((_WE, _shown(one)) for one in evidence(data["evidence"]) if one.outcome != "PASS")
            seen = tuple((_SEEN, failure) for failure in data.get("failures", ()))
            found.append(Caught(data["phase"], data["number"], says, ran or seen))
        elif kind == "verdict.given":
            judged = tuple(("verifier says", failure) for failure in data["failures"])
            found.append(Caught(data["phase"], data["number"], says, judged))
    return found


def _shown(one: Evidence) -> str:
    code = f"exit {one.exit_code}, but " if one.exit_code == 0 else ""
    return f"{one.command} on a clean checkout: {code}{one.why}"


def block(pen: Pen, one: Caught, *, agent: str, title: str) -> list[str]:
    """Draw it: the subject, then each side on lines of its own."""
    symbol, shown = pen.symbols.failed, cut(printable(title), pen.width - 20, symbols=pen.symbols)
    lead = f"{symbol} {one.phase:<4}{shown}   "
    first, *rest = pen.hanging(lead, f"`NOT PROVEN:` the agent says done, {_who(one)}", under=_INDENT)
    rows = [pen.red(symbol) + first.removeprefix(symbol), *rest]
    for label, text in (
        (f"{agent} says", f'"{one.says}"'),
        *one.against,
        ("so", f"attempt {one.number + 1} gets exactly this."),
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
