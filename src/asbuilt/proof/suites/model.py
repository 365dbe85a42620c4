"""Tests, assertions and findings as frozen values, in every language the same.

The one rule: what is compared is what a test checks, not how it is written.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES: Final = 500_000
"""A test file over this is not compared, and says so: no hand writes one."""


class Change(NamedTuple):
    """One file that differs between the base tree and the snapshot; None where it does not exist."""

    path: str
    """With slashes, from the top of the repository."""
    before: bytes | None
    after: bytes | None


class Order(NamedTuple):
    """What the plan orders, and how the project is tested."""

    text: str
    """The phase as it was frozen, with its work items and criteria."""
    first_line: int = 1
    """The line of the plan file on which the text begins, so that a citation points there."""
    command: str = ""
    """The test command as it is run."""
    unchanged: Mapping[str, bytes] = {}
    """Runner settings and conftests that did not change: what is collected, and what tests are handed."""
    checks: tuple[str, ...] = ()
    """The phase's own checks: what they stand for in a recipe may not become less either."""


class Kind(StrEnum):
    """What was found: fewer tests, less checked, failures that do not count, another runner."""

    TEST_REMOVED = "test-removed"
    TEST_SKIPPED = "test-skipped"
    TEST_EXPECTED_TO_FAIL = "test-expected-to-fail"
    NOT_COLLECTED = "not-collected"
    TEST_EMPTIED = "test-emptied"
    CHECKS_NOTHING = "checks-nothing"
    ASSERTION_REMOVED = "assertion-removed"
    ASSERTION_WEAKENED = "assertion-weakened"
    ALWAYS_TRUE = "always-true"
    NOT_ALWAYS_CHECKED = "not-always-checked"
    TOLERANCE_LOOSENED = "tolerance-loosened"
    EXCEPTION_WIDENED = "exception-widened"
    EXPECTATION_CHANGED = "expectation-changed"
    COMPARED_WITH_ITSELF = "compared-with-itself"
    FAILURE_SWALLOWED = "failure-swallowed"
    PRODUCT_REPLACED = "product-replaced"
    EQUALS_ANYTHING = "equals-anything"
    KNOWS_THE_TESTS = "knows-the-tests"
    OUTCOME_REWRITTEN = "outcome-rewritten"
    EXIT_FORCED = "exit-forced"
    RUNNER_CHANGED = "runner-changed"
    RUNNER_REPLACED = "runner-replaced"
    GOLDEN_CHANGED = "golden-changed"
    COMMENTS_ONLY = "comments-only"
    STUB = "stub"
    PROMISE_UNKEPT = "promise-unkept"
    CONSTANT_ANSWER = "constant-answer"
    ANSWERS_THE_TESTS = "answers-the-tests"
    TODO_LEFT = "todo-left"
    NOT_WIRED = "not-wired"
    ADDRESSES_THE_JUDGE = "addresses-the-judge"
    UNREADABLE = "unreadable"
    NOT_COMPARED = "not-compared"


class Severity(StrEnum):
    """What a finding means for the phase."""

    FAILS = "fails"
    """Tampering: the phase is not proven."""
    SIGN_OFF = "sign_off"
    """A person should look."""
    NOTE = "note"
    """Worth a line in the evidence, no more."""
    ALLOWED = "allowed"
    """The plan orders it; the finding cites where."""


class Citation(NamedTuple):
    """The line of the plan that orders a change."""

    line: int
    text: str


class Finding(NamedTuple):
    """One way in which the suite may prove less than before."""

    kind: Kind
    severity: Severity
    path: str
    test: str
    """The test's name as its file has it; empty where it is about the file."""
    line_before: int | None
    line_after: int | None
    was: str
    now: str
    cited: Citation | None = None
    words: frozenset[str] = frozenset()
    """Names that the touched test uses: a plan that takes one of these away takes the test with it."""


class Rank(IntEnum):
    """How much an assertion demands; of two on the same subject, the higher one."""

    NOTHING = 0
    RUNS = 1
    TRUE = 2
    PARTLY = 3
    CLOSE = 4
    EQUAL = 5


class Assertion(NamedTuple):
    """One thing that a test demands, without regard to how it is spelled."""

    rank: Rank
    form: str
    """`==`, `<`, `raises`, `true`: what is demanded of the subject."""
    subject: str
    expected: str
    line: int
    text: str
    given: frozenset[str] = frozenset()
    """Literals in the subject: what the product is fed with."""
    literals: frozenset[str] = frozenset()
    """Literals in the expectation."""
    calls: frozenset[str] = frozenset()
    """Functions whose answers are judged."""
    tolerance: float | None = None
    bound: float | None = None
    """The number in `<`, `>` and their like."""
    guard: str = ""
    """When it is checked; empty for always."""
    circular: bool = False
    """True: the expectation asks the same function as the subject."""
    void: tuple[Kind, str] | None = None
    """Why its failure shows nothing."""

    @property
    def key(self) -> str:
        """Name the demand: equal keys demand the same."""
        return f"{self.form}|{self.subject}|{self.expected}|{self.tolerance}"


class Idle(NamedTuple):
    """A mark by which a test does not run, or runs and cannot fail."""

    kind: Kind
    condition: str
    """Empty: always."""
    line: int
    text: str


class Test(NamedTuple):
    """One test, or code around tests that asserts."""

    path: str
    name: str
    line: int
    assertions: tuple[Assertion, ...]
    idle: tuple[Idle, ...] = ()
    words: frozenset[str] = frozenset()
    """Names and literals in it: what tells it from other tests when its name is gone."""
    is_aid: bool = False
    """True: it runs only when a test calls it, so when it is gone nothing is silently lost."""

    is_open: bool = False
    """True: its cases are computed, so nobody can count them."""

    @property
    def is_live(self) -> bool:
        """Tell whether its failure would be seen."""
        return not any(not mark.condition for mark in self.idle)


class Trace(NamedTuple):
    """Something in a file that lets a failure count no more; one that was not there before is a finding."""

    kind: Kind
    severity: Severity
    line: int
    text: str
    key: str
    """What it is known by: the same one in another place is not new."""


class Reading(NamedTuple):
    """What one file holds."""

    tests: tuple[Test, ...] = ()
    traces: tuple[Trace, ...] = ()
    problem: str | None = None
    """Why it could not be read; None: it was."""


def shortened(text: str, limit: int = 90) -> str:
    """Give a text on one line and short enough to show."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
