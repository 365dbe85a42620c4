"""asbuilt's remarks on a change, in one form for repairs, sign-offs and reports.

Rule: a remark is stored whole with the evidence, so that a replay can compare it with its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from asbuilt.proof.suites.model import Change, Citation, Finding, Severity

OLD_TEST_FAILS: Final = "old-test-fails"
"""A test of the base fails on the new code."""
HELPER_CHECKS_LESS: Final = "helper-checks-less"
"""The same, by an assertion of a helper that the helper no longer makes."""
CHECKS_NOTHING: Final = "checks-nothing"
"""A new test has nothing in its text that could fail for a wrong answer."""
NO_TEST_NOTICES: Final = "no-test-notices"
"""Mutations of a phase's new lines pass every check."""
NOTHING_SHOWS_IT: Final = "nothing-shows-it"
"""Everything that asbuilt ran for a phase passes without its work too."""
OBSERVED: Final = frozenset(
    {
        *("changed-outside-the-workspace", "changed-in-your-checkout", "flaky-test"),
        *(OLD_TEST_FAILS, HELPER_CHECKS_LESS, CHECKS_NOTHING, NO_TEST_NOTICES, NOTHING_SHOWS_IT),
    }
)
"""Rules of what was observed while it happened; all other remarks can be derived from the trees again."""
_APART: Final = 3
"""Up to this number of changes of one kind, each gets its own question."""


class Remark(NamedTuple):
    """One property of a change that fails it, needs a sign-off, or is worth a note."""

    rule: str
    """Name of the rule: `assertion-weakened`, `ci`, `flaky`."""
    severity: Severity
    path: str
    test: str = ""
    line: int | None = None
    was: str = ""
    now: str = ""
    cited: str = ""
    """The plan's line that orders it."""
    content: str = ""
    """Digest of the file before and after: a sign-off covers this change and no other."""
    identity: str | None = None
    """The facts behind the sentences `was` and `now`. None: both are code, or an older version wrote it."""
    is_said: bool = False
    """Both `was` and `now` are sentences; False: at least one of them is code."""

    @property
    def place(self) -> str:
        """The place in words."""
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}, {self.test}" if self.test else where

    @property
    def words(self) -> str:
        """The remark in words, for the agent that repairs it. Code is quoted, a sentence is not."""
        lead = f"{self.place}: {self.rule.replace('-', ' ')}"
        if self.is_said or (self.identity is not None and not self.was):
            change = ", and ".join(filter(None, (self.was, self.now)))
        else:
            parts = [f"was “{self.was}”" * bool(self.was), f"now “{self.now}”" * bool(self.now)]
            change = ", ".join(part for part in parts if part)
        return f"{lead}: {change}" if change else lead

    @property
    def key(self) -> str:
        """Identifier of the change, independent of its line, and of the wording where `identity` is set."""
        facts = (self.was, self.now) if self.identity is None else (self.identity,)
        named = (self.rule, self.path, self.test, *facts, self.content)
        return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:16]


def remarks_on(findings: Iterable[Finding], changes: Iterable[Change]) -> tuple[Remark, ...]:
    """Turn a suite's findings into remarks."""
    contents = {change.path: content_of(change) for change in changes}
    return tuple(
        Remark(
            *(
                finding.kind.value,
                finding.severity,
                finding.path,
                finding.test,
                finding.line,
                finding.was,
                finding.now,
            ),
            cited=cited_words(finding.cited),
            content=contents.get(finding.path, ""),
        )
        for finding in findings
    )


def content_of(change: Change) -> str:
    """Return a digest of a file before and after."""
    digests = (
        b"" if side is None else hashlib.sha256(side).digest() for side in (change.before, change.after)
    )
    return hashlib.sha256(b"|".join(digests)).hexdigest()[:16]


def cited_words(cited: Citation | None) -> str:
    """Format the line where a plan orders something."""
    return "" if cited is None else f"line {cited.line}: {cited.text}"


def failing(remarks: Iterable[Remark]) -> list[Remark]:
    """Return the remarks that fail a phase."""
    return [remark for remark in remarks if remark.severity is Severity.FAILS]


def for_a_person(remarks: Iterable[Remark]) -> list[Remark]:
    """Return the remarks that need a sign-off before the work lands."""
    return [remark for remark in remarks if remark.severity is Severity.SIGN_OFF]


def asked_about(remarks: Iterable[Remark]) -> list[tuple[Remark, ...]]:
    """Group sign-offs into questions: one for each change, but one for more than 3 of a kind."""
    kinds: dict[str, list[Remark]] = {}
    for remark in for_a_person(remarks):
        kinds.setdefault(remark.rule, []).append(remark)
    asked: list[tuple[Remark, ...]] = []
    for group in kinds.values():
        asked += [tuple(group)] if len(group) > _APART else [(remark,) for remark in group]
    return asked


def key_of(group: Sequence[Remark]) -> str:
    """Return the key of a question; another change or other content gives another key."""
    keys = sorted({remark.key for remark in group})
    return keys[0] if len(keys) == 1 else hashlib.sha256("".join(keys).encode()).hexdigest()[:16]


def words_of(group: Sequence[Remark]) -> str:
    """Describe the subject of a question."""
    if len(group) == 1:
        return group[0].words
    places = ", ".join(remark.place for remark in group[:_APART])
    rule = group[0].rule.replace("-", " ")
    return (
        f"{len(group)} times {rule}: {places} and {len(group) - _APART} more; `asbuilt report` has them all"
    )


def remark_from(plain: Mapping[str, object]) -> Remark:
    """Build a remark from its stored form."""
    remark = Remark(**plain)  # type: ignore[arg-type]  # our own JSON
    return remark._replace(severity=Severity(remark.severity))
