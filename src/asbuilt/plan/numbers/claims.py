"""Numbers in acceptance criteria, and their drift from the plan's own arithmetic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from asbuilt.plan.model import Claim
from asbuilt.plan.numbers.arithmetic import CODE

if TYPE_CHECKING:
    from asbuilt.plan.markdown.source import Span
    from asbuilt.plan.model import Form
    from asbuilt.plan.numbers.arithmetic import Rules

NEVER: Final = 999
"""Largest drift, and that of an unmet `exactly`: no tolerance covers it."""

_N: Final = r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})"
_END: Final = r"(?![\w]|[.,]\d|-\d)"
_START: Final = r"(?<![\w.,-])"
_FORMS: Final[tuple[tuple[Form, re.Pattern[str]], ...]] = (
    ("range", re.compile(rf"{_START}{_N}\s*[-–—]\s*{_N}{_END}")),
    ("at_most", re.compile(rf"(?:<=|≤|\bat most|\bno more than|\bup to)\s*{_N}{_END}", re.IGNORECASE)),
    ("at_least", re.compile(rf"(?:>=|≥|\bat least|\bno fewer than)\s*{_N}{_END}", re.IGNORECASE)),
    ("exactly", re.compile(rf"\bexactly\s+{_N}{_END}", re.IGNORECASE)),
    (
        "about",
        re.compile(rf"(?:~\s*|\bapproximately\s+|\babout\s+|\bexpected:?\s+){_N}{_END}", re.IGNORECASE),
    ),
)
_BARE: Final = re.compile(rf"{_START}{_N}{_END}")
_DIGITS: Final = re.compile(r"\d[\d,]*")
_REMOVED: Final = re.compile(
    r"\b(?:removed?|moved?|fewer|leaves?|left out|saved?|shorter|gone|extracted)\b", re.IGNORECASE
)


class Stated(NamedTuple):
    """A claim in one line: its form, its bounds, and the columns of the literal."""

    form: Form
    low: int | None
    high: int | None
    start: int
    end: int


def stated_in(line: str) -> Stated | None:
    """Find the claim in one line of a criterion; the leftmost wins. Code spans are ignored."""
    if _DIGITS.search(line) is None:
        return None
    plain = CODE.sub(lambda code: " " * len(code.group()), line)
    claims = [(form, found) for form, pattern in _FORMS if (found := pattern.search(plain)) is not None]
    claims = [(form, found) for form, found in claims if form != "range" or _rises(found)]
    if not claims:
        bare = _BARE.search(plain)
        if bare is None or len(_DIGITS.findall(plain)) != 1:
            return None
        claims = [("about", bare)]
    form, found = min(claims, key=lambda claim: claim[1].start())
    low, high = _bounds(form, found)
    return Stated(form, low, high, found.start(1), found.end(found.lastindex or 1))


def _rises(found: re.Match[str]) -> bool:
    return _number(found, 1) < _number(found, 2)


def _number(found: re.Match[str], group: int) -> int:
    return int(found.group(group).replace(",", ""))


def _bounds(form: Form, found: re.Match[str]) -> tuple[int | None, int | None]:
    first = _number(found, 1)
    match form:
        case "range":
            return first, _number(found, 2)
        case "at_most":
            return None, first
        case "at_least":
            return first, None
        case "exactly" | "about":
            return first, first
        case _:
            assert_never(form)


def drift(form: Form, low: int | None, high: int | None, value: int) -> int:
    """Return the distance of `value` from the bounds in whole percent, rounded up; 0 inside them."""
    if (low is None or value >= low) and (high is None or value <= high):
        return 0
    if form == "exactly":
        return NEVER
    bound = low if low is not None and value < low else high
    if not bound:
        return NEVER
    return min(NEVER, -(-abs(value - bound) * 100 // abs(bound)))


def bind(stated: Stated, span: Span, text: str, rules: Rules, *, alone: bool) -> Claim:
    """Join a claim with its rule: they share a code span, or each is the only one of the phase."""
    gone = _REMOVED.search(text) is not None
    derived, rule = rules.derive(CODE.findall(text), gone=gone, alone=alone) or (None, None)
    return Claim(
        form=stated.form,
        low=stated.low,
        high=stated.high,
        derived=derived,
        drift_pct=None if derived is None else drift(stated.form, stated.low, stated.high, derived),
        rule=rule,
        stated=span,
    )


def corrected(form: Form, actual: int) -> str:
    """Return the literal that replaces a wrong one; a range becomes the actual value plus or minus 5 %."""
    if form == "range":
        low, high = actual * 95 // 100, -(-actual * 105 // 100)
        return f"{low}-{max(high, low + 1)}"
    return str(actual)
