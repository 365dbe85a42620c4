"""Compare what two suites demand: each demand of before must be met again, anywhere, by a live test.

The one rule: where a test was renamed, moved, split, merged or rewritten, only what it demanded counts.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.model import Assertion, Finding, Kind, Severity, Test
from asbuilt.proof.suites.weighing import implied, likeness, weighed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ALIKE: Final = 0.55
_MOST: Final = 400
"""Tests to compare with one another by likeness; more are matched by name and demand only."""


class _Pair(NamedTuple):
    before: Test
    after: Test | None


class _Owed(NamedTuple):
    """A demand of before that nobody has met yet."""

    test: Test
    assertion: Assertion


def compared(before: Sequence[Test], after: Sequence[Test]) -> list[Finding]:
    """Find every demand that is not met any more, each with the best reason that can be given."""
    pairs = _paired(before, after)
    free = _Free(after)
    findings = [finding for pair in pairs for finding in _idled(pair)]
    owed = [
        (pair, [one for one in pair.before.assertions if not free.takes(pair.after, one, findings, pair)])
        for pair in pairs
        if pair.before.is_live and not (pair.before.is_aid and pair.after is None)
    ]
    owed = [(pair, [one for one in rest if not free.takes(None, one, findings, pair)]) for pair, rest in owed]
    for pair, rest in owed:
        findings += _explained(pair, rest, free, after)
    paired = {id(pair.after) for pair in pairs if pair.after is not None}
    findings += [_empty(test) for test in after if id(test) not in paired and _is_empty(test)]
    return findings


def _paired(before: Sequence[Test], after: Sequence[Test]) -> list[_Pair]:
    """Find for every test what became of it."""
    left = {id(test): test for test in after}
    found: dict[int, Test] = {}

    def take(one: Test, other: Test) -> None:
        found[id(one)] = other
        del left[id(other)]

    for name in (_place, _plain_name, _demanded):
        index: dict[object, list[Test]] = defaultdict(list)
        for test in left.values():
            index[name(test)].append(test)
        for test in before:
            if id(test) not in found:
                same = [one for one in index[name(test)] if id(one) in left and one.is_aid == test.is_aid]
                if len(same) == 1 or (same and name is _place):
                    take(test, same[0])
    gone = [test for test in before if id(test) not in found][:_MOST]
    new = list(left.values())[:_MOST]
    scores = sorted(
        ((likeness(one, other), at, to) for at, one in enumerate(gone) for to, other in enumerate(new)
         if one.is_aid == other.is_aid),
        key=lambda score: -score[0],
    )  # fmt: skip
    for score, at, to in scores:
        if score < _ALIKE:
            break
        if id(gone[at]) not in found and id(new[to]) in left:
            take(gone[at], new[to])
    return [_Pair(test, found.get(id(test))) for test in before]


def _place(test: Test) -> object:
    return test.path, test.name


def _plain_name(test: Test) -> object:
    return test.name.rpartition(".")[2]


def _demanded(test: Test) -> object:
    return frozenset(one.key for one in test.assertions) or id(test)


def _idled(pair: _Pair) -> Iterator[Finding]:
    """Find the marks by which a test that ran does not run any more, or cannot fail."""
    if pair.after is None or not pair.before.is_live:
        return
    known = {(mark.kind, mark.condition) for mark in pair.before.idle}
    for mark in pair.after.idle:
        if (mark.kind, mark.condition) not in known:
            known.add((mark.kind, mark.condition))
            yield _finding(
                mark.kind, Severity.FAILS, pair, (pair.before.line, mark.line), "it ran", mark.text
            )


class _Free:
    """The demands of after that no demand of before has been met by yet."""

    def __init__(self, after: Iterable[Test]) -> None:
        self._by_key: dict[str, list[tuple[Test, Assertion]]] = defaultdict(list)
        self._by_test: dict[int, list[Assertion]] = {}
        self._tests: list[tuple[Test, list[Assertion]]] = []
        for test in after:
            if test.is_live:
                self._by_test[id(test)] = list(test.assertions)
                self._tests.append((test, self._by_test[id(test)]))
                for one in test.assertions:
                    self._by_key[one.key].append((test, one))

    def takes(self, test: Test | None, one: Assertion, findings: list[Finding], pair: _Pair) -> bool:
        """Meet a demand by the same one, in this test or in any."""
        for at, (owner, other) in enumerate(self._by_key[one.key]):
            if owner.is_aid != pair.before.is_aid:
                continue
            if (test is None or owner is test) and (other.void is None or one.void is not None):
                if other.guard and not one.guard:
                    if test is None:
                        continue
                    findings.append(
                        _finding(
                            Kind.NOT_ALWAYS_CHECKED, Severity.FAILS, pair, (one.line, other.line), one.text,
                            f"only checked if {other.guard}",
                        )
                    )  # fmt: skip
                del self._by_key[one.key][at]
                self._by_test[id(owner)].remove(other)
                return True
        return False

    def of(self, test: Test | None) -> list[Assertion]:
        """Give what is free in one test."""
        return self._by_test.get(id(test), [])

    def in_tests(self) -> Iterator[Assertion]:
        """Give all that is free and that a runner reaches by itself."""
        for test, rest in self._tests:
            if not test.is_aid:
                yield from rest


def _explained(pair: _Pair, rest: list[Assertion], free: _Free, after: Sequence[Test]) -> Iterator[Finding]:
    if pair.after is None:
        yield from _gone(pair, rest, free, after)
        return
    if not pair.after.is_live or not rest:
        return
    if not pair.after.assertions:
        yield _finding(
            Kind.TEST_EMPTIED, Severity.FAILS, pair, (pair.before.line, pair.after.line),
            f"{len(pair.before.assertions)} checks", "it checks nothing",
        )  # fmt: skip
        return
    yield from _settled(pair, rest, free.of(pair.after), pair.after.assertions)


def _settled(
    pair: _Pair, rest: list[Assertion], candidates: list[Assertion], whole: Sequence[Assertion]
) -> Iterator[Finding]:
    """Weigh every unmet demand against the nearest thing that stands in its place."""
    new = list(candidates)
    for one in rest:
        if implied(one, new, whole):
            continue
        best = max(candidates, key=lambda other: _nearness(one, other), default=None)
        if best is None:
            if one.void is None:
                yield _finding(
                    Kind.ASSERTION_REMOVED, Severity.FAILS, pair, (one.line, None), one.text, "it is gone"
                )
            continue
        candidates.remove(best)
        judged = weighed(one, best)
        if judged is not None:
            kind, severity, now = judged
            yield _finding(kind, severity, pair, (one.line, best.line), one.text, now)


def _nearness(one: Assertion, other: Assertion) -> tuple[int, ...]:
    """Say how near a demand is to another, the most telling first."""
    return (
        one.subject == other.subject,
        one.form == other.form and one.expected == other.expected,
        one.subject in other.subject or other.subject in one.subject,
        len(one.calls & other.calls),
        one.form == other.form,
        other.void is None,
        -abs(one.rank - other.rank),
        len(one.given & other.given),
    )


def _gone(pair: _Pair, rest: list[Assertion], free: _Free, after: Sequence[Test]) -> Iterator[Finding]:
    """Say what became of a test that is nowhere any more."""
    test = pair.before
    lost = [one for one in rest if one.void is None]
    if not lost:
        return
    if any(_is_twin(test, other) for other in after):
        return
    elsewhere = [
        (one, other)
        for one in lost
        for other in free.in_tests()
        if other.void is None and one.subject and one.subject == other.subject
    ]
    if len({id(one) for one, _ in elsewhere}) == len(lost):
        for one in lost:
            other = max(
                (other for known, other in elsewhere if known is one), key=lambda other: _nearness(one, other)
            )
            judged = weighed(one, other)
            if judged is not None:
                yield _finding(judged[0], judged[1], pair, (one.line, other.line), one.text, judged[2])
        return
    hidden = next((other for other in after if other.is_aid and likeness(test, other) >= _ALIKE), None)
    if hidden is not None:
        now = f"{hidden.name}, which no runner collects"
        yield _finding(
            Kind.NOT_COLLECTED, Severity.FAILS, pair, (test.line, hidden.line), f"{len(lost)} checks", now
        )
        return
    yield _finding(
        Kind.TEST_REMOVED, Severity.FAILS, pair, (test.line, None),
        f"{len(test.assertions)} checks", f"{len(lost)} of them are nowhere",
    )  # fmt: skip


def _is_twin(test: Test, other: Test) -> bool:
    """Tell whether one test does all that another does: of two such, one may go."""
    same = test.words == other.words and _demanded(test) == _demanded(other)
    return same and other.is_live and other.is_aid == test.is_aid


def _is_empty(test: Test) -> bool:
    return not test.is_aid and test.is_live and not any(one.void is None for one in test.assertions)


def _empty(test: Test) -> Finding:
    """Tell of a new test that cannot fail: it takes nothing away, and proves nothing."""
    void = next((one.void for one in test.assertions if one.void is not None), None)
    now = void[1] if void else "it checks nothing"
    return Finding(Kind.CHECKS_NOTHING, Severity.SIGN_OFF, test.path, test.name, None, test.line, "", now)


def _finding(
    kind: Kind, severity: Severity, pair: _Pair, lines: tuple[int | None, int | None], was: str, now: str
) -> Finding:
    before, after = lines
    path = pair.after.path if pair.after is not None and after is not None else pair.before.path
    return Finding(kind, severity, path, pair.before.name, before, after, was, now, words=pair.before.words)
