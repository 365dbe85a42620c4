"""Derivation rules of a plan, computed by a parser for digits, plus and minus. Nothing is evaluated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import UsageWrong

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MAX_DIGITS: Final = 12
_TERM: Final = re.compile(r"\s*([+-]?)\s*([0-9]+)\s*")
# Without spaces `60-90` is a range and `2026-01-12` a date; a sum has spaces around `-`, or a `+`.
_EXPRESSION: Final = re.compile(
    r"(?<![\w.+-])[0-9]++(?:\s*+\+\s*+[0-9]++|\s++-\s++[0-9]++|-[0-9]++(?=\s*+\+))+(?![\w%]|[.,][0-9])"
)
_LINES: Final = re.compile(
    r"\blines\s+([0-9]{1,12})\s*(?:\.\.\.?|-|–|—|to|through)\s*([0-9]{1,12})\b", re.IGNORECASE
)
_DOWN_FROM: Final = re.compile(r"\b([0-9]{1,12})\s+lines?,?\s+down\s+from\s+([0-9]{1,12})\b", re.IGNORECASE)
CODE: Final = re.compile(r"`([^`\n]+)`")


class Rule(NamedTuple):
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

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._only = rules[0] if len(rules) == 1 else None
        self._by_key: dict[str, list[tuple[int, Rule]]] = {}
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


def _adds(rule: Rule, kept: Sequence[Rule], *, gone: bool) -> bool:
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


def rules_in(text: str) -> list[Rule]:
    """Find the derivation rules in one bullet or line of a design."""
    if not any(char.isdigit() for char in text):
        return []
    keys = tuple(dict.fromkeys(CODE.findall(text)))
    plain = CODE.sub(lambda code: " " * len(code.group()), text)
    found: list[Rule] = []
    for lines in _LINES.finditer(plain):
        first, last = int(lines.group(1)), int(lines.group(2))
        if last >= first:
            found.append(Rule(lines.group(), last - first + 1, None, keys))
    for down in _DOWN_FROM.finditer(plain):
        left, before = int(down.group(1)), int(down.group(2))
        found.append(Rule(down.group(), left, before - left, keys))
    for sum_ in _EXPRESSION.finditer(plain):
        expression = " ".join(sum_.group().split())
        if all(len(number) <= _MAX_DIGITS for number in re.findall(r"[0-9]+", expression)):
            found.append(Rule(expression, evaluate(expression), None, keys))
    return found
