"""Compare what two suites demand: each demand of before must be met again, anywhere, by a live test.

The one rule: where a test was renamed, moved, split, merged or rewritten, only what it demanded counts.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.model import Assertion, Finding, Kind, Severity, Test
from asbuilt.proof.suites.weighing import (
    OTHER_INPUT,
    implied,
    likeness,
    may_be_a_case,
    nearness,
    tabled,
    weighed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ALIKE: Final = 0.55
_MOST: Final = 300
"""Tests and demands that are compared each with each; of more, only those that something else points to."""


class _Pair(NamedTuple):
    before: Test
    after: Test | None


def compared(before: Sequence[Test], after: Sequence[Test]) -> list[Finding]:
    """Find every demand that is not met any more, each with the best reason that can be given."""
    pairs = _paired(before, after)
    free = _Free(after)
    findings = [finding for pair in pairs for finding in _idled(pair)]
    owing = [
        pair for pair in pairs if pair.before.is_live and not (pair.before.is_aid and pair.after is None)
    ]
    owed: list[tuple[_Pair, list[Assertion]]] = []
    for pair in owing:
        rest = []
        for one in pair.before.assertions:
            other = free.same_in(pair.after, one)
            if other is None:
                rest.append(one)
            elif other.guard and not one.guard:
                now = f"only checked if {other.guard}"
                lines = (one.line, other.line)
                findings.append(_finding(Kind.NOT_ALWAYS_CHECKED, Severity.FAILS, pair, lines, one.text, now))
        owed.append((pair, rest))
    unmet = [(pair, [one for one in rest if not free.has_same(pair.before, one)]) for pair, rest in owed]
    for pair, rest in unmet:
        findings += _explained(pair, [one for one in rest if not free.has_row(one)], free, after)
    paired = {id(pair.after) for pair in pairs if pair.after is not None}
    new = [test for test in after if id(test) not in paired and not test.is_aid]
    findings += [_empty(test) for test in new if _is_empty(test)]
    if all(_only_runs(test) for test in new):
        findings += [_empty(test) for test in new if not _is_empty(test)]
    return findings


def _paired(before: Sequence[Test], after: Sequence[Test]) -> list[_Pair]:
    """Find for every test what became of it."""
    left = {id(test): test for test in after}
    found: dict[int, Test] = {}
    for name in (_place, _plain_name, _demanded):
        index: dict[object, list[Test]] = defaultdict(list)
        for test in reversed(left.values()):
            index[name(test), test.is_aid].append(test)
        for test in before:
            same = index.get((name(test), test.is_aid), []) if id(test) not in found else []
            if same and (len(same) == 1 or name is _place):
                found[id(test)] = same.pop()
                del left[id(found[id(test)])]
    gone = [test for test in before if id(test) not in found][:_MOST]
    new = list(left.values())[:_MOST]
    scores = [
        (likeness(one, other), at, to)
        for at, one in enumerate(gone)
        for to, other in enumerate(new)
        if one.is_aid == other.is_aid
    ]
    for score, at, to in sorted(scores, key=lambda score: -score[0]):
        if score >= _ALIKE and id(gone[at]) not in found and id(new[to]) in left:
            found[id(gone[at])] = left.pop(id(new[to]))
    return [_Pair(test, found.get(id(test))) for test in before]


def _place(test: Test) -> object:
    return test.path, test.name


def _plain_name(test: Test) -> object:
    # A script is one test, and its name has an ending.
    return test.name if test.path.endswith(test.name) else test.name.rpartition(".")[2]


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
            lines = (pair.before.line, mark.line)
            yield _finding(mark.kind, Severity.FAILS, pair, lines, "it ran", mark.text)


class _Entry:
    """A demand of after, until it has met one of before."""

    __slots__ = ("assertion", "is_taken", "test")

    def __init__(self, test: Test, assertion: Assertion) -> None:
        self.test = test
        self.assertion = assertion
        self.is_taken = False


class _Free:
    """The demands of after that no demand of before has been met by yet."""

    def __init__(self, after: Iterable[Test]) -> None:
        self._entries = [_Entry(test, one) for test in after if test.is_live for one in test.assertions]
        self._by_test: dict[int, list[_Entry]] = defaultdict(list)
        self._own: dict[tuple[int, str], list[_Entry]] = defaultdict(list)
        self._same: dict[tuple[bool, str], list[_Entry]] = defaultdict(list)
        self._subjects: dict[str, list[_Entry]] = defaultdict(list)
        for entry in reversed(self._entries):
            key = entry.assertion.key
            self._own[id(entry.test), key].append(entry)
            self._same[entry.test.is_aid, key].append(entry)
        for entry in self._entries:
            self._by_test[id(entry.test)].append(entry)
            if not entry.test.is_aid:
                self._subjects[entry.assertion.subject].append(entry)
        live = {id(entry.test): entry.test for entry in self._entries}
        self._twins = {(test.is_aid, test.words, _demanded(test)) for test in live.values()}
        self._rows = [entry for entry in self._entries if entry.assertion.form == "case"][:_MOST]

    def same_in(self, test: Test | None, one: Assertion) -> Assertion | None:
        """Meet a demand by the same one of one test."""
        return _taken(self._own.get((id(test), one.key), []), one, guarded=True)

    def has_same(self, test: Test, one: Assertion) -> bool:
        """Meet a demand by the same one of any test."""
        return _taken(self._same.get((test.is_aid, one.key), []), one, guarded=bool(one.guard)) is not None

    def has_row(self, one: Assertion) -> bool:
        """Meet a demand by a row of a table of cases."""
        if one.form == "case":
            return False
        row = next((row for row in self._rows if not row.is_taken and tabled(one, row.assertion)), None)
        if row is not None:
            row.is_taken = True
        return row is not None

    def has_twin(self, test: Test) -> bool:
        """Tell whether another test does all that this one did: of two such, one may go."""
        return (test.is_aid, test.words, _demanded(test)) in self._twins

    def of(self, test: Test) -> list[Assertion]:
        """Give what is free in one test."""
        return [entry.assertion for entry in self._by_test[id(test)] if not entry.is_taken]

    def about(self, subject: str) -> list[Assertion]:
        """Give what is free and can fail in any test, about one subject."""
        entries = self._subjects.get(subject, []) if subject else []
        return [entry.assertion for entry in entries if not entry.is_taken and entry.assertion.void is None]


def _taken(entries: list[_Entry], one: Assertion, *, guarded: bool) -> Assertion | None:
    while entries and entries[-1].is_taken:
        entries.pop()
    for entry in reversed(entries):
        other = entry.assertion
        may = (other.void is None or one.void is not None) and (guarded or not other.guard)
        if may and not entry.is_taken:
            entry.is_taken = True
            return other
    return None


def _explained(pair: _Pair, rest: list[Assertion], free: _Free, after: Sequence[Test]) -> Iterator[Finding]:
    if pair.after is None:
        yield from _gone(pair, rest, free, after)
    elif not rest or not pair.after.is_live:
        return
    elif not pair.after.assertions:
        was = _checks(len(pair.before.assertions))
        lines = (pair.before.line, pair.after.line)
        yield _finding(Kind.TEST_EMPTIED, Severity.FAILS, pair, lines, was, "it checks nothing")
    else:
        whole = pair.after.assertions
        if pair.after.is_open and not pair.before.is_open:
            told = [one for one in rest if any(may_be_a_case(one, other) for other in whole)]
            rest = [one for one in rest if one not in told]
            if told:
                lines = (pair.before.line, pair.after.line)
                was, now = _checks(len(told)), "its cases are computed: count them"
                yield _finding(Kind.EXPECTATION_CHANGED, Severity.SIGN_OFF, pair, lines, was, now)
        yield from _settled(pair, rest, free.of(pair.after), whole)


def _settled(
    pair: _Pair, rest: list[Assertion], candidates: list[Assertion], whole: Sequence[Assertion]
) -> Iterator[Finding]:
    """Weigh every unmet demand against the nearest thing that stands in its place."""
    new = candidates[:_MOST]
    said = False
    for one in rest:
        if implied(one, new, whole[:_MOST]):
            continue
        best = max(candidates[:_MOST], key=lambda other: nearness(one, other), default=None)
        if best is not None:
            candidates.remove(best)
            judged = weighed(one, best)
            if judged is not None and not (judged[2].endswith(OTHER_INPUT) and said):
                kind, severity, now = judged
                said = said or now.endswith(OTHER_INPUT)
                yield _finding(kind, severity, pair, (one.line, best.line), one.text, now)
        elif one.void is None:
            # A type that is asserted is often a word to a type checker.
            severity = Severity.SIGN_OFF if one.form == "isinstance" else Severity.FAILS
            yield _finding(Kind.ASSERTION_REMOVED, severity, pair, (one.line, None), one.text, "it is gone")


def _gone(pair: _Pair, rest: list[Assertion], free: _Free, after: Sequence[Test]) -> Iterator[Finding]:
    """Say what became of a test that is nowhere any more."""
    test = pair.before
    lost = [one for one in rest if one.void is None]
    if not lost or free.has_twin(test):
        return
    elsewhere = [(one, free.about(one.subject)) for one in lost]
    if all(others for _, others in elsewhere):
        for one, others in elsewhere:
            other = max(others, key=lambda other: nearness(one, other))
            judged = weighed(one, other)
            if judged is not None:
                yield _finding(judged[0], judged[1], pair, (one.line, other.line), one.text, judged[2])
        return
    aids = [other for other in after if other.is_aid][:_MOST]
    hidden = next((other for other in aids if likeness(test, other) >= _ALIKE), None)
    if hidden is not None:
        now = f"{hidden.name}, which no runner collects"
        lines = (test.line, hidden.line)
        yield _finding(Kind.NOT_COLLECTED, Severity.FAILS, pair, lines, _checks(len(lost)), now)
        return
    was, now = _checks(len(test.assertions)), f"{len(lost)} of them are nowhere"
    yield _finding(Kind.TEST_REMOVED, Severity.FAILS, pair, (test.line, None), was, now)


def _is_empty(test: Test) -> bool:
    return not test.is_aid and test.is_live and not any(one.void is None for one in test.assertions)


def _only_runs(test: Test) -> bool:
    """Tell whether a test calls the product and looks at no answer; what a script calls has an exit code."""
    return all(one.void is not None or (one.form == "runs" and one.calls) for one in test.assertions)


def _empty(test: Test) -> Finding:
    """Tell of a new test that cannot fail, or only by an exception: it takes nothing away, proves little."""
    void = next((one.void for one in test.assertions if one.void is not None), None)
    now = "no answer is looked at" if not _is_empty(test) else void[1] if void else "it checks nothing"
    return Finding(Kind.CHECKS_NOTHING, Severity.SIGN_OFF, test.path, test.name, None, test.line, "", now)


def _finding(
    kind: Kind, severity: Severity, pair: _Pair, lines: tuple[int | None, int | None], was: str, now: str
) -> Finding:
    before, after = lines
    path = pair.after.path if pair.after is not None and after is not None else pair.before.path
    return Finding(kind, severity, path, pair.before.name, before, after, was, now, words=pair.before.words)


def _checks(number: int) -> str:
    return f"{number} check{'' if number == 1 else 's'}"
