"""Numbers in acceptance criteria, and the arithmetic by which the plan derives them. Nothing is evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from asbuilt.errors import UsageWrong
from asbuilt.plan.model import Claim, Criterion, Form, Phase

if TYPE_CHECKING:
    from asbuilt.plan.markdown.source import Span

_MAX_DIGITS: Final = 12
_TERM: Final = re.compile(r"\s*([+-]?)\s*([0-9]+)\s*")
# Without spaces `60-90` is a range and `2026-01-12` a date; a sum has spaces around `-`, or a `+`.
_EXPRESSION: Final = re.compile(
    r"(?<![\w.+-])[0-9]++(?:\s*+\+\s*+[0-9]++|\s++-\s++[0-9]++|-[0-9]++(?=\s*+\+))+(?![\w%]|[.,][0-9])"
)
_LINES: Final = re.compile(r"(?i)\blines\s+([0-9]{1,12})\s*(?:\.\.\.?|-|–|—|to|through)\s*([0-9]{1,12})\b")
_DOWN_FROM: Final = re.compile(r"(?i)\b([0-9]{1,12})\s+lines?,?\s+down\s+from\s+([0-9]{1,12})\b")
CODE: Final = re.compile(r"`([^`\n]+)`")


class Derivation(NamedTuple):
    """One derivation in a plan's Design & Constraints."""

    text: str
    value: int
    removed: int | None
    """For "X lines down from Y": the removed lines, Y - X; the criterion's words decide which is meant."""
    keys: tuple[str, ...]

    def what(self, *, gone: bool) -> int:
        """Return the removed amount if `gone` and there is one, else the final value."""
        return self.removed if gone and self.removed is not None else self.value


class Rules:
    """The derivations of one phase, by the code spans that they share with a claim."""

    def __init__(self, rules: Sequence[Derivation]) -> None:
        self._only = rules[0] if len(rules) == 1 else None
        self._by_key: dict[str, list[tuple[int, Derivation]]] = {}
        for at, rule in enumerate(rules):
            for key in rule.keys:
                kept = self._by_key.setdefault(key, [])
                # Two different values already make a key ambiguous; more are not kept.
                if any(_adds(rule, [other for _, other in kept], gone=gone) for gone in (False, True)):
                    kept.append((at, rule))

    def derive(self, keys: Iterable[str], *, gone: bool, alone: bool) -> tuple[int, str] | None:
        """Return the single value of the rules, and the rule's text; None if there is none or several.

        `gone` asks for the removed amount; `alone` means that the claim is the only one of its phase.
        """
        near = sorted({found for key in keys for found in self._by_key.get(key, ())})
        if not near and alone and self._only is not None:
            near = [(0, self._only)]
        values = {rule.what(gone=gone) for _, rule in near}
        return (values.pop(), near[0][1].text) if len(values) == 1 else None


NEVER: Final = 999
"""Largest drift, and that of an unmet `exactly`: no tolerance covers it."""

_NUMBER: Final = r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})"
_END: Final = r"(?![\w]|[.,]\d|-\d)"
_START: Final = r"(?<![\w.,-])"
_FORMS: Final[tuple[tuple[Form, re.Pattern[str]], ...]] = (
    ("range", re.compile(rf"{_START}{_NUMBER}\s*[-–—]\s*{_NUMBER}{_END}")),
    ("at_most", re.compile(rf"(?i)(?:<=|≤|\bat most|\bno more than|\bup to)\s*{_NUMBER}{_END}")),
    ("at_least", re.compile(rf"(?i)(?:>=|≥|\bat least|\bno fewer than)\s*{_NUMBER}{_END}")),
    ("exactly", re.compile(rf"(?i)\bexactly\s+{_NUMBER}{_END}")),
    ("about", re.compile(rf"(?i)(?:~\s*|\bapproximately\s+|\babout\s+|\bexpected:?\s+){_NUMBER}{_END}")),
)
_BARE: Final = re.compile(rf"{_START}{_NUMBER}{_END}")
_DIGITS: Final = re.compile(r"\d[\d,]*")
_REMOVED: Final = re.compile(
    r"(?i)\b(?:removed?|moved?|fewer|leaves?|left out|saved?|shorter|gone|extracted)\b"
)


class Stated(NamedTuple):
    """A claim in one line: its form, its bounds, and the columns of the literal."""

    form: Form
    low: int | None
    high: int | None
    start: int
    end: int


def _adds(rule: Derivation, kept: Sequence[Derivation], *, gone: bool) -> bool:
    values = {other.what(gone=gone) for other in kept}
    return len(values) < 2 and rule.what(gone=gone) not in values


def evaluate(expression: str) -> int:
    """Compute `52 - 4 + 9`. Anything but digits, plus, minus and spaces raises `UsageWrong`."""
    total, position = 0, 0
    first = True
    while position < len(expression) or first:
        term = _TERM.match(expression, position)
        if term is None or (not first and not term.group(1)) or len(term.group(2)) > _MAX_DIGITS:
            raise UsageWrong(
                f'"{expression}" is not a sum',
                why="Only whole numbers, + and - are computed; anything else could run code.",
                next_step="Write it like 52 - 4 + 9.",
            )
        total += -int(term.group(2)) if term.group(1) == "-" else int(term.group(2))
        position = term.end()
        first = False
    return total


def rules_in(text: str) -> list[Derivation]:
    """Find the derivation rules in one bullet or line of a design."""
    if not any(char.isdigit() for char in text):
        return []
    # A code span that is a whole sum is a rule; others name what a rule is about.
    keys = tuple(span for span in dict.fromkeys(CODE.findall(text)) if not _is_sum(span))
    plain = CODE.sub(lambda code: f" {code[1]} " if _is_sum(code[1]) else " " * len(code[0]), text)
    found: list[Derivation] = []
    for lines in _LINES.finditer(plain):
        first, last = int(lines.group(1)), int(lines.group(2))
        if last >= first:
            found.append(Derivation(lines.group(), last - first + 1, None, keys))
    for down in _DOWN_FROM.finditer(plain):
        left, before = int(down.group(1)), int(down.group(2))
        found.append(Derivation(down.group(), left, before - left, keys))
    for sum_ in _EXPRESSION.finditer(plain):
        expression = " ".join(sum_.group().split())
        if all(len(number) <= _MAX_DIGITS for number in re.findall(r"[0-9]+", expression)):
            found.append(Derivation(expression, evaluate(expression), None, keys))
    return found


def _is_sum(code: str) -> bool:
    return _EXPRESSION.fullmatch(code.strip()) is not None


def stated_in(line: str) -> Stated | None:
    """Find the claim in one line of a criterion; the leftmost wins. Code spans are ignored."""
    if _DIGITS.search(line) is None:
        return None
    plain = CODE.sub(lambda code: " " * len(code.group()), line)
    claims = [(form, found) for form, pattern in _FORMS if (found := pattern.search(plain)) is not None]
    claims = [
        (form, found) for form, found in claims if form != "range" or _number(found, 1) < _number(found, 2)
    ]
    if not claims:
        bare = _BARE.search(plain)
        if bare is None or len(_DIGITS.findall(plain)) != 1:
            return None
        claims = [("about", bare)]
    form, found = min(claims, key=lambda claim: claim[1].start())
    low, high = _bounds(form, found)
    return Stated(form, low, high, found.start(1), found.end(found.lastindex or 1))


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


def bullets_of(phase: Phase) -> list[tuple[int, Criterion]]:
    """Return the criteria that contain a digit, each with its number among all; a bullet counts these."""
    numbered = enumerate(phase.criteria, 1)
    return [(at, found) for at, found in numbered if any(char.isdigit() for char in found.text)]


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
