"""Results of the base's tests on the new code, and what follows from them. Pure.

Rules: a test that fails there by an assertion needs an order or a sign-off; if a test cannot be loaded, the
two texts are compared; a test that passed on the base and is gone or skipped needs an order. An order to
merge or to rewrite tests allows neither a failure nor a lost case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, assert_never

from asbuilt.proof.remarks import HELPER_CHECKS_LESS, OLD_TEST_FAILS, Remark, cited_words
from asbuilt.proof.suites.model import LITERAL, Finding, Kind, Order, Severity, shortened
from asbuilt.proof.suites.ordered_changes import ordered_form, orders_removal, settled
from asbuilt.proof.trials.test_text import own_name

if TYPE_CHECKING:
    from asbuilt.proof.counts import Counts

Now = Literal["passed", "skipped", "absent"]
Then = Literal["passed", "red", "helper", "load"]
State = Literal["passed", "failed", "skipped"]
_SHOWN: Final = 160
_WORDS: Final = re.compile(r"[^\W\d]\w+")
_LENIENT: Final = (Severity.ALLOWED, Severity.NOTE, Severity.SIGN_OFF, Severity.FAILS)
_LOOSENING: Final = (Kind.ASSERTION_REMOVED, Kind.TOLERANCE_LOOSENED, Kind.TEST_REMOVED)
_ASSERTED: Final = re.compile(
    r"(?m)AssertionError|ERR_ASSERTION|DID NOT RAISE|DID NOT WARN|^\s*(?:E\s+)?assert\b|AssertionFailedError"
    r"|\bexpect\("
)
_NOT_LOADED: Final = re.compile(
    r"(?m)^[\s'\"E>]*(?:error: '?|name: '|Uncaught )?(?:[\w.]+\.)?(?:TypeError|NameError|UnboundLocalError|"
    r"AttributeError|ImportError|ModuleNotFoundError|SyntaxError|IndentationError|ReferenceError|"
    r"NoSuchMethodError|NoClassDefFoundError|NoMethodError|LoadError)\b"
    r"|fixture '[^']*' not found|failed on (?:setup|teardown)|collection failure|_FailedTest"
    r"|Cannot find module|is not (?:a function|defined|a constructor)\b|does not provide an export"
    r"|(?:command )?not found$"
    r"|\[(?:build|setup) failed\]|could not compile|cannot find symbol|undefined: "
)
_AIDS: Final = re.compile(
    r"(?i)support|helper|util|fixture|mock|fake|stub|assert|check|expect|matcher|compare|common|shared"
)
_IMPORTS_A_RUNNER: Final = re.compile(
    r"(?m)^\s*(?:import|from)\s+(?:_?pytest|unittest)\b|^\s*\"testing\"|import\s+\"testing\"|\borg\.junit|AssertionError"
    r"|[\"'](?:node:)?(?:assert(?:/strict)?|test)[\"']|[\"'](?:chai|vitest|@jest/globals|expect)[\"']"
)
_INLINE: Final = re.compile(rb"(?ms)^#\[cfg\(test\)\]\s*\n(?:pub(?:\([^)]*\))? )?mod \w+ \{.*?^\}")
"""The test module in a Rust source; it ends at the start of a line."""
_GROUP: Final = re.compile(r"(?m)^\s*(?:describe|context|suite|class)\b.*$")
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,}")
_PLACE: Final = re.compile(r"([\w./@+-]+\.\w+)(?:\", line |:)(\d+)")
_ASSERTS: Final = re.compile(
    r"(?i)\b(?:assert\w*|expect|require|raise|throw|panic\w*|fail\w*|exit)\b|\bt\.(?:Error|Fatal)|\.should\b"
)

_EXACT: Final = re.compile(
    r"(?m)(?<![<>!=])={2,3}(?!=)|\bis\b|\bassert_eq\b|\b(?:assert)?(?:Strict|DeepStrict|Deep|List|Dict|Set|Tuple|Count)?"
    r"Equals?\(|\b(?:strict|deepStrict|deep)?[eE]qual\(|\bassertIs\(|\bto(?:Be|Equal|StrictEqual)\(|\bisEqualTo\("
    r"|(?<=\s)!=\s.*\{$"
)
"""Comparisons that only one value passes; the last one is Go's."""
_ABOUT: Final = re.compile(r"\bapprox\([^()]*(?:\([^()]*\)[^()]*)*,|\babs\(")
"""Comparisons with a tolerance of their own."""


class OldTest(NamedTuple):
    """One test that passed on the base: its state now, and the result of its old text on the new code."""

    name: str
    now: Now
    then: Then
    path: str = ""
    message: str = ""
    """Its output when it failed."""
    was: str = ""
    """Lines that only its old text has."""
    became: str = ""
    """Lines that only its new text has, or the text of the test that replaced it."""
    like: str = ""
    """A test of the new tree with the same content, if its name is gone."""
    renamed: bool = False
    """True: that test differs from it only in names."""
    earlier: bool = False
    """True: its old text is older than the phase's base, and an earlier phase changed it."""
    lost: str = ""
    """Lines of its old text whose cases no new test has."""

    @property
    def is_gone(self) -> bool:
        """Return whether no test of the new tree has its name or its content."""
        return self.now == "absent" and not self.like


class Helper(NamedTuple):
    """A file that tests use, before and after."""

    before: str
    after: str


def how_it_failed(message: str, place: str, helpers: Mapping[str, Helper]) -> Then:
    """Distinguish a failed assertion from a test that could not be loaded, and from a helper's assertion.

    `message` is the message of the failure, `place` its full output.
    """
    if not _ASSERTED.search(message) and _NOT_LOADED.search(message):
        return "load"
    for path, line in _PLACE.findall(place):
        helper = next((known_helper for name, known_helper in helpers.items() if path.endswith(name)), None)
        if helper is not None and _no_longer_made(helper, int(line)):
            return "helper"
    return "red"


def _no_longer_made(helper: Helper, line: int) -> bool:
    before, after = ([row.strip() for row in text.splitlines()] for text in helper)
    if not 1 <= line <= len(before) or before[line - 1] in after or not _ASSERTS.search(before[line - 1]):
        return False
    made = [sum(bool(_ASSERTS.search(row)) for row in side) for side in (before, after)]
    return made[1] < made[0]


def may_help(path: str, text: str) -> bool:
    """Return whether code is made for tests, by its name and its imports.

    A product that only tests import must not match: the old tests would run on the old product.
    """
    return _AIDS.search(path) is not None and _IMPORTS_A_RUNNER.search(text) is not None


def imported_as(path: str) -> list[str]:
    """Return how other files import a file: by its folder and its stem."""
    folder, _, name = path.rpartition("/")
    stem, parent = name.partition(".")[0], folder.rpartition("/")[2]
    if parent:
        return [f"{parent}/{stem}", f"{parent}.{stem}", f"from {parent} import {stem}"]
    return [f"./{stem}", f"../{stem}", f"import {stem}", f"from {stem}"]


def with_old_inline(before: bytes, after: bytes) -> bytes | None:
    """Return a Rust source with its previous tests; None if they are the same, or there are none."""
    old, new = (_INLINE.search(side) for side in (before, after))
    if old is None or new is None or old[0] == new[0]:
        return None
    return after[: new.start()] + old[0] + after[new.end() :]


def states_in(counts: Counts | None) -> dict[str, State]:
    """Return the state of each test of a run; of a test with parameters, the worst case decides."""
    found: dict[str, State] = {}
    kinds: tuple[tuple[State, Sequence[str]], ...] = (
        (("failed", counts.failures), ("passed", counts.passed), ("skipped", counts.others)) if counts else ()
    )
    for state, names in kinds:
        for name in names:
            found.setdefault(name.partition("[")[0], state)
    return found


def with_old_tests(
    remarks: Sequence[Remark],
    every: Sequence[OldTest],
    order: Order,
    *,
    is_green: bool,
    is_compared: bool,
    before: Sequence[Order] = (),
) -> tuple[Remark, ...]:
    """Settle remarks that only a run can decide, and add the results of the base's tests.

    `is_green`: all of them pass. `is_compared`: the result of each test is known. `before` has the orders of
    the earlier phases, which may have ordered what an older text of a test shows.
    """
    olds = [test for test in every if not test.earlier]
    answered = [
        _answered(known_remark, olds, order, is_green=is_green, is_compared=is_compared)
        for known_remark in remarks
    ]
    data = [known_remark for known_remark in answered if known_remark.rule == Kind.GOLDEN_CHANGED]
    is_ordered = bool(data) and all(known_remark.severity is Severity.ALLOWED for known_remark in data)
    added = [
        # If the plan orders all new data, a failure with the old data alone is ordered too.
        _remark(OLD_TEST_FAILS, Severity.ALLOWED, Kind.GOLDEN_CHANGED, test, order)._replace(
            cited=data[0].cited
        )
        if is_ordered and (test.now, test.then, test.was, test.became) == ("passed", "red", "", "")
        else _noticed(test, order)
        for test in olds
    ]
    noticed = {old.name for old, remark in zip(olds, added, strict=True) if remark is not None}
    added += [
        _noticed_since(test, order, before) for test in every if test.earlier and test.name not in noticed
    ]
    return (*answered, *(known_remark for known_remark in added if known_remark is not None))


def _noticed_since(old: OldTest, order: Order, before: Sequence[Order]) -> Remark | None:
    """Return the remark on a test that an earlier phase changed, by the order that allows most.

    The earlier phase did not fail the test: an order to change its form allows no failure, one to loosen or
    to remove what it checks does. The user was asked about a test that is gone, unless an order merged it.
    """
    is_asked = old.is_gone and not any(_has_form(old, earlier) for earlier in before)
    remark = None if is_asked else _noticed(old, order)
    if remark is None:
        return None
    found = _finding(_LOOSENING[0], remark.severity, old)
    for kind in _LOOSENING:
        for finding in (settled(found._replace(kind=kind), earlier) for earlier in before):
            if _LENIENT.index(finding.severity) < _LENIENT.index(remark.severity):
                remark = remark._replace(severity=finding.severity, cited=cited_words(finding.cited))
    was = remark.was if remark.rule == Kind.NOT_COMPARED else "it passed before an earlier phase changed it"
    return remark._replace(was=was)


def _answered(
    remark: Remark, olds: Sequence[OldTest], order: Order, *, is_green: bool, is_compared: bool
) -> Remark:
    """Turn a settled remark into a note, unless the plan's own checks read the file and it checks less."""
    is_settled: dict[str, bool] = {Kind.NOT_COMPARED: is_compared, Kind.GOLDEN_CHANGED: is_green}
    if remark.severity is not Severity.SIGN_OFF or not is_settled.get(remark.rule, False):
        return remark
    if any(remark.path in check for check in order.checks):
        less = next((own_name(old.name) for old in olds if old.path == remark.path and _checks_less(old)), "")
        if less or remark.rule == Kind.GOLDEN_CHANGED:
            reason = "one of the phase's checks reads it, and it checks less"
            return remark._replace(test=less, now=reason, identity="")
    return remark._replace(severity=Severity.NOTE)


def _noticed(old: OldTest, order: Order) -> Remark | None:
    """Return the remark on one test of the base; None if nothing needs an order or a sign-off."""
    is_there = old.now == "passed" or (old.now == "absent" and bool(old.like))
    has_form = _has_form(old, order)
    is_kept = has_form and old.now == "absent" and bool(old.was) and not old.lost
    match old.then:
        case "helper":
            return _remark(HELPER_CHECKS_LESS, Severity.FAILS, Kind.ASSERTION_REMOVED, old, order)
        case "red" if is_there and (_has_fewer_values(old) if has_form else _checks_less(old)):
            return _remark(OLD_TEST_FAILS, Severity.FAILS, Kind.ASSERTION_REMOVED, old, order)
        case "red" if is_there and _is_less_exact(old) and not has_form:
            return _remark(OLD_TEST_FAILS, Severity.SIGN_OFF, Kind.TOLERANCE_LOOSENED, old, order)
        case "red" if is_there:
            return _remark(OLD_TEST_FAILS, Severity.SIGN_OFF, Kind.EXPECTATION_CHANGED, old, order)
        case "load" if is_there and (old.renamed or _says_the_same(old)):
            return None
        case "load" if is_there and _is_less_exact(old):
            return _remark(Kind.NOT_COMPARED, Severity.SIGN_OFF, Kind.TOLERANCE_LOOSENED, old, order)
        case "load" if is_there:
            return _remark(Kind.NOT_COMPARED, Severity.SIGN_OFF, Kind.EXPECTATION_CHANGED, old, order)
        case "passed" if is_kept or (is_there and not old.lost) or (old.now == "passed" and not has_form):
            return None
        case "red" | "load" | "passed":
            kind = Kind.TEST_SKIPPED if old.now == "skipped" else Kind.TEST_REMOVED
            kind = Kind.ASSERTION_REMOVED if old.now == "passed" else kind
            severity = Severity.FAILS if old.then == "red" else Severity.SIGN_OFF
            return _remark(kind, severity, kind, old, order)
        case _:
            assert_never(old.then)


def _finding(kind: Kind, severity: Severity, old: OldTest) -> Finding:
    words = frozenset(_WORDS.findall(old.was))
    return Finding(kind, severity, old.path, old.became, old.was, own_name(old.name), words=words)


def _has_form(old: OldTest, order: Order) -> bool:
    """Return whether a plan orders another form of a test: its cases stay, and lines may become fewer."""
    return ordered_form(_finding(Kind.TEST_REMOVED, Severity.SIGN_OFF, old), order) is not None


def _checks_less(old: OldTest) -> bool:
    """Return whether a test has lost assertions or values, rather than changed what it expects."""
    has_fewer_asserts = len(_ASSERTS.findall(old.was)) > len(_ASSERTS.findall(old.became))
    return has_fewer_asserts or _has_fewer_values(old)


def _has_fewer_values(old: OldTest) -> bool:
    then, now = (values_in(text) for text in (old.was, old.became))
    return now < then


def _says_the_same(old: OldTest) -> bool:
    """Return, by texts alone, whether a test still has all its values and as many assertions."""
    then, now = (values_in(text) for text in (old.was, old.became))
    return then <= now and not _checks_less(old) and not _is_less_exact(old)


def _is_less_exact(old: OldTest) -> bool:
    """Return whether a comparison that only one value passes became one that more values pass."""
    then, now = (len(_EXACT.findall(text)) - len(_ABOUT.findall(text)) for text in (old.was, old.became))
    return now < then


def values_in(text: str) -> set[str]:
    """Return the numbers and texts of a test, without the titles of test groups."""
    return {*LITERAL.findall(_GROUP.sub("", text))} - {'""', "''"}


def _remark(rule: str, severity: Severity, kind: Kind, old: OldTest, order: Order) -> Remark:
    """Build a remark; one that the plan orders is allowed and cites the line."""
    gone = "it is gone, and no new test says the same" if old.now == "absent" else "it is skipped"
    now = {
        "red": f"it fails on the new code: {old.message}",
        "helper": f"its helper no longer checks what fails on the new code: {old.message}",
        "load": gone
        if old.is_gone
        else f"it cannot be loaded with the new code: {old.became}".removesuffix(": "),
        "passed": f"no new test has its case: {old.lost}" if old.lost and old.now != "skipped" else gone,
    }[old.then]
    found = settled(_finding(kind, severity, old), order)
    cited = found.cited
    if cited is None and kind is Kind.TEST_REMOVED and old.then == "load":
        cited = orders_removal(order, old.path)
    is_ordered = cited is not None and (found.cited is None or found.severity is Severity.ALLOWED)
    left = Severity.ALLOWED if is_ordered else found.severity
    is_said = rule != Kind.NOT_COMPARED
    was = "it passed on the base" if is_said else shortened(old.was, _SHOWN)
    remark = Remark(rule, left, old.path, found.test, None, was, shortened(now, _SHOWN), cited_words(cited))
    facts = (old.then, old.now, old.message, old.was, old.became, *filter(None, [old.lost]))
    return remark._replace(identity="\n".join(facts), is_said=is_said)


def message_of(message: str, own: str) -> str:
    """Return the most informative line of a failure's message; lines with the test's name are skipped."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and own not in line]
    telling = (
        line
        for line in lines
        if _ASSERTED.search(line) or re.match(r"(?:E\s+)?\w*(?:Error|Exception)\b", line)
    )
    return _ADDRESS.sub("0x…", shortened(next(telling, lines[0] if lines else ""), _SHOWN))


def words_for(olds: Iterable[OldTest], *, is_loaded: bool) -> str:
    """Describe the result of the run."""
    every = list(olds)
    if not is_loaded:
        return "the base's tests cannot be run on the new code"
    red = sum(old.then in ("red", "helper") for old in every)
    load = sum(old.then == "load" for old in every)
    outcome = (
        f"the base's tests on the new code: {red} fail" if red else "the base's tests pass on the new code"
    )
    return f"{outcome}, {load} cannot be loaded" if load else outcome
