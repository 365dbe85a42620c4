"""Changed files, a plan's orders, and findings about a suite, as immutable values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

MAX_BYTES: Final = 500_000
"""Largest file whose content is compared; larger files are generated."""


class Change(NamedTuple):
    """One file that differs between the base tree and the snapshot; None where it does not exist."""

    path: str
    """With slashes, from the top of the repository."""
    before: bytes | None
    after: bytes | None
    target: str | None = None
    """Target of the new version, if it is a symbolic link."""
    submodule: str | None = None
    """Commit of another repository, if the new version is a submodule."""

    @property
    def old(self) -> str:
        """The text before; empty if the file did not exist."""
        return (self.before or b"").decode("utf-8", "replace")

    @property
    def new(self) -> str:
        """The text after; empty if the file is gone."""
        return (self.after or b"").decode("utf-8", "replace")

    @property
    def added(self) -> list[tuple[int, str]]:
        """The lines, with their numbers, that the file did not have before; blank ones are left out."""
        before = {*self.old.splitlines()}
        return [
            (at, line)
            for at, line in enumerate(self.new.splitlines(), 1)
            if line.strip() and line not in before
        ]


class Order(NamedTuple):
    """What the plan orders, and how the project is tested."""

    text: str
    """The frozen text of the phase, with its work items and criteria."""
    first_line: int = 1
    """The line of the plan file where the text starts, for citations."""
    command: str = ""
    """The test command as it is run."""
    unchanged: Mapping[str, bytes] = {}
    """Unchanged runner settings, which determine what is collected."""
    checks: tuple[str, ...] = ()
    """The phase's own checks: the recipes that they start must not check less either."""


class Kind(StrEnum):
    """Kind of a finding: fewer tests, fewer checks, failures that do not count, another runner."""

    TEST_REMOVED = "test-removed"
    TEST_SKIPPED = "test-skipped"
    NOT_COLLECTED = "not-collected"
    TEST_EMPTIED = "test-emptied"
    ASSERTION_REMOVED = "assertion-removed"
    TOLERANCE_LOOSENED = "tolerance-loosened"
    EXPECTATION_CHANGED = "expectation-changed"
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
    INPUT_IGNORED = "input-ignored"
    ANSWERS_THE_TESTS = "answers-the-tests"
    TODO_LEFT = "todo-left"
    NOT_WIRED = "not-wired"
    SWITCHED_OFF = "switched-off"
    ERROR_DROPPED = "error-dropped"
    ADDRESSES_THE_JUDGE = "addresses-the-judge"
    NOT_COMPARED = "not-compared"


class Severity(StrEnum):
    """What a finding means for the phase."""

    FAILS = "fails"
    """Tampering: the phase is not proven."""
    SIGN_OFF = "sign_off"
    """The user has to sign it off."""
    NOTE = "note"
    """Only noted in the evidence."""
    ALLOWED = "allowed"
    """The plan orders it; the finding cites the line."""


class Citation(NamedTuple):
    """The line of the plan that orders a change."""

    line: int
    text: str


class Finding(NamedTuple):
    """One way in which the suite may prove less than before."""

    kind: Kind
    severity: Severity
    path: str
    now: str
    was: str = ""
    test: str = ""
    """The test's name as in its file; empty if the finding is about the file."""
    line: int | None = None
    cited: Citation | None = None
    words: frozenset[str] = frozenset()
    """Names that the touched test uses: a plan that removes one of them removes the test as well."""


LITERAL: Final = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
"""A text or number, in any language."""


def shortened(text: str, limit: int = 90) -> str:
    """Put a text on one line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
