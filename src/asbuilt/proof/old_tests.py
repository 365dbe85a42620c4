"""What the tests of the base say about the new code, and what follows from it. Pure.

Its rules: a test that fails there for what it asserts needs an order or a person; one that cannot be loaded
decides nothing; a test that passed on the base and is gone or skipped needs an order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt.proof.blocks import own_name
from asbuilt.proof.remarks import HELPER_CHECKS_LESS, OLD_TEST_FAILS, Remark, cited_words
from asbuilt.proof.suites.model import Finding, Kind, Severity, shortened
from asbuilt.proof.suites.orders import orders_removal, settled
from asbuilt.proof.suites.places import is_foreign

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from asbuilt.proof.counts import Counts
    from asbuilt.proof.suites.model import Order

Now = Literal["passed", "skipped", "absent"]
Then = Literal["passed", "red", "helper", "load"]
State = Literal["passed", "failed", "skipped"]
_SHOWN: Final = 160
_IN_DOUBT: Final = frozenset(
    (
        Kind.ASSERTION_WEAKENED,
        Kind.TOLERANCE_LOOSENED,
        Kind.EXCEPTION_WIDENED,
        Kind.EXPECTATION_CHANGED,
        Kind.GOLDEN_CHANGED,
    )
)
"""What a comparison of texts suspects, and the base's own tests decide."""
_ABOUT_TESTS: Final = frozenset(
    (
        *_IN_DOUBT,
        Kind.TEST_REMOVED,
        Kind.TEST_SKIPPED,
        Kind.TEST_EXPECTED_TO_FAIL,
        Kind.NOT_COLLECTED,
        Kind.TEST_EMPTIED,
        Kind.ASSERTION_REMOVED,
        Kind.NOT_ALWAYS_CHECKED,
    )
)
"""What a comparison of texts says of single tests; a person need not be asked about one twice."""
_ASSERTED: Final = re.compile(
    r"AssertionError|ERR_ASSERTION|DID NOT RAISE|DID NOT WARN|^\s*(?:E\s+)?assert\b|AssertionFailedError"
    r"|\bexpect\(",
    re.MULTILINE,
)
_NOT_LOADED: Final = re.compile(
    r"^[\s'\"E>]*(?:error: '?|name: '|Uncaught )?(?:[\w.]+\.)?(?:TypeError|NameError|UnboundLocalError|"
    r"AttributeError|ImportError|ModuleNotFoundError|SyntaxError|IndentationError|ReferenceError|"
    r"NoSuchMethodError|NoClassDefFoundError|NoMethodError|LoadError)\b"
    r"|fixture '[^']*' not found|failed on (?:setup|teardown)|collection failure|_FailedTest"
    r"|Cannot find module|is not (?:a function|defined|a constructor)\b|does not provide an export"
    r"|(?:command )?not found$"
    r"|\[(?:build|setup) failed\]|could not compile|cannot find symbol|undefined: ",
    re.MULTILINE,
)
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,}")
_PLACE: Final = re.compile(r"([\w./@+-]+\.\w+)(?:\", line |:)(\d+)")
_ASSERTS: Final = re.compile(
    r"\b(?:assert\w*|expect|require|raise|throw|panic\w*|fail\w*|exit)\b|\bt\.(?:Error|Fatal)|\.should\b",
    re.IGNORECASE,
)


class OldTest(NamedTuple):
    """One test that passed on the base: what it does now, and what its old text does on the new code."""

    name: str
    now: Now
    then: Then
    path: str = ""
    said: str = ""
    """What it printed when it failed."""
    was: str = ""
    """Lines that only its old text has."""
    became: str = ""
    """Lines that only its new text has, or that of the test that took its place."""
    like: str = ""
    """A test of the new tree that says the same, where it is gone by name."""
    renamed: bool = False
    """True: that test differs from it only in names."""


class Helper(NamedTuple):
    """A file that tests use, before and after."""

    before: str
    after: str


def how_it_failed(said: str, place: str, helpers: Mapping[str, Helper]) -> Then:
    """Tell a failed assertion from a test that could not be loaded, and whether a helper made it.

    `said` is the message of the failure, `place` all that was printed about it.
    """
    if not _ASSERTED.search(said) and _NOT_LOADED.search(said):
        return "load"
    for path, line in _PLACE.findall(place):
        helper = next((one for name, one in helpers.items() if path.endswith(name)), None)
        if helper is not None and _no_longer_made(helper, int(line)):
            return "helper"
    return "red"


def _no_longer_made(helper: Helper, line: int) -> bool:
    before, after = ([row.strip() for row in text.splitlines()] for text in helper)
    if not 1 <= line <= len(before) or before[line - 1] in after or not _ASSERTS.search(before[line - 1]):
        return False
    made = [sum(bool(_ASSERTS.search(row)) for row in side) for side in (before, after)]
    return made[1] < made[0]


def states_in(counts: Counts | None) -> dict[str, State]:
    """Say what became of each test of a run; of one with parameters, the worst case decides."""
    found: dict[str, State] = {}
    kinds: tuple[tuple[State, Sequence[str]], ...] = (
        (("failed", counts.failures), ("passed", counts.passed), ("skipped", counts.others)) if counts else ()
    )
    for state, names in kinds:
        for name in names:
            found.setdefault(name.partition("[")[0], state)
    return found


def is_settled_by_old_tests(remark: Remark) -> bool:
    """Tell whether a remark that fails a phase may be answered by the base's tests on the new code."""
    return remark.severity is Severity.FAILS and remark.rule in (*_IN_DOUBT, Kind.TEST_REMOVED)


def with_old_tests(
    remarks: Sequence[Remark], olds: Sequence[OldTest], order: Order, *, is_green: bool
) -> tuple[Remark, ...]:
    """Settle what the comparison of texts suspects, and add what the base's tests have shown."""
    answered = tuple(_answered(one, olds, order, is_green=is_green) for one in remarks)
    added = (_noticed(one, answered, order) for one in olds)
    return (*answered, *(one for one in added if one is not None))


def _answered(remark: Remark, olds: Sequence[OldTest], order: Order, *, is_green: bool) -> Remark:
    if remark.severity not in (Severity.FAILS, Severity.SIGN_OFF):
        return remark
    mine = [one for one in olds if _is_about(remark, one)]
    holds = bool(mine) and all(one.then == "passed" and (one.now == "passed" or one.like) for one in mine)
    if remark.rule in _IN_DOUBT and not any(remark.path in check for check in order.checks):
        is_fine = holds if remark.test else is_green
        return remark._replace(severity=Severity.NOTE) if is_fine else remark
    if remark.rule == Kind.NOT_COMPARED and is_foreign(remark.path):
        # Nobody here reads the language: that the product still does what the old tests ask settles it.
        return remark._replace(severity=Severity.NOTE) if is_green else remark
    if remark.rule == Kind.TEST_REMOVED:
        if holds or (mine and all(one.then == "load" and one.renamed for one in mine)):
            return remark._replace(severity=Severity.NOTE)
        cited = orders_removal(order, remark.path) if all(one.then == "load" for one in mine) else None
        if cited is not None:
            return remark._replace(severity=Severity.ALLOWED, cited=cited_words(cited))
    return remark


def _noticed(old: OldTest, remarks: Sequence[Remark], order: Order) -> Remark | None:
    """Say what one test of the base shows; None: nothing, or it was said already."""
    if old.then == "helper":
        return _remark(HELPER_CHECKS_LESS, Severity.FAILS, Kind.ASSERTION_REMOVED, old, order)
    if any(_is_about(one, old) for one in remarks if one.severity is not Severity.NOTE):
        return None
    red = old.then == "red"
    if old.now == "passed" or (old.now == "absent" and old.like):
        return (
            _remark(OLD_TEST_FAILS, Severity.SIGN_OFF, Kind.EXPECTATION_CHANGED, old, order) if red else None
        )
    kind = Kind.TEST_SKIPPED if old.now == "skipped" else Kind.TEST_REMOVED
    return _remark(kind, Severity.FAILS if red else Severity.SIGN_OFF, kind, old, order)


def _remark(rule: str, severity: Severity, kind: Kind, old: OldTest, order: Order) -> Remark:
    """Make a remark; what the plan orders is allowed, with the line that orders it."""
    now = {
        "red": f"it fails on the new code: {old.said}",
        "helper": f"its helper no longer checks what fails on the new code: {old.said}",
        "load": "it cannot be loaded with the new code",
        "passed": "it is gone, and no new test says the same" if old.now == "absent" else "it is skipped",
    }[old.then]
    own = own_name(old.name)
    words = frozenset(re.findall(r"[^\W\d]\w+", old.was))
    found = settled(
        Finding(kind, severity, old.path, own, None, None, old.was, old.became, words=words), order
    )
    cited = found.cited
    if cited is None and kind is Kind.TEST_REMOVED and old.then == "load":
        cited = orders_removal(order, old.path)
    is_ordered = cited is not None and (found.cited is None or found.severity is Severity.ALLOWED)
    left = Severity.ALLOWED if is_ordered else found.severity
    return Remark(
        rule, left, old.path, own, None, "it passed on the base", shortened(now, _SHOWN), cited_words(cited)
    )


def _is_about(remark: Remark, old: OldTest) -> bool:
    """Tell whether a remark is about a test: by its own name, and its file where both are known."""
    if not remark.test or remark.rule not in _ABOUT_TESTS:
        return False
    return own_name(remark.test) == own_name(old.name) and (
        not old.path or old.path == remark.path or bool(old.like)
    )


def said_of(message: str, own: str) -> str:
    """Take the line of a failure's message that tells most; a line with the test's name tells nothing."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and own not in line]
    telling = (
        line
        for line in lines
        if _ASSERTED.search(line) or re.match(r"(?:E\s+)?\w*(?:Error|Exception)\b", line)
    )
    return _ADDRESS.sub("0x…", shortened(next(telling, lines[0] if lines else ""), _SHOWN))


def words_for(olds: Iterable[OldTest], *, is_loaded: bool) -> str:
    """Word what came of the run."""
    every = list(olds)
    if not is_loaded:
        return "the base's tests cannot be run on the new code"
    red = sum(one.then in ("red", "helper") for one in every)
    load = sum(one.then == "load" for one in every)
    told = f"the base's tests on the new code: {red} fail" if red else "the base's tests pass on the new code"
    return f"{told}, {load} cannot be loaded" if load else told
