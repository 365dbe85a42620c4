"""What asbuilt noticed about a change, in one form for whoever mends it, signs it off or reads of it.

The one rule: a remark is kept with the evidence, whole, so that a replay can compare it with its own.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.model import Change, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from asbuilt.proof.suites.model import Citation, Finding

OLD_TEST_FAILS: Final = "old-test-fails"
"""A test of the base fails on the new code."""
HELPER_CHECKS_LESS: Final = "helper-checks-less"
"""It does so by an assertion of a helper that the helper does not make any more."""
CHECKS_NOTHING: Final = "checks-nothing"
"""A new test has nothing in its text that could fail for a wrong answer."""
NO_TEST_NOTICES: Final = "no-test-notices"
"""Changes to the new lines of a phase pass every check."""
OBSERVED: Final = frozenset(
    {
        "changed-outside-the-workspace",
        "changed-in-your-checkout",
        "flaky-test",
        OLD_TEST_FAILS,
        HELPER_CHECKS_LESS,
        CHECKS_NOTHING,
        NO_TEST_NOTICES,
    }
)
"""Rules of what was seen once, while it happened; all else can be looked up in the trees again."""
_APART: Final = 3
"""So many changes of one kind are a question each."""


class Remark(NamedTuple):
    """One thing about a change that fails it, wants a person's eyes, or is worth a line."""

    rule: str
    """What it is: `assertion-weakened`, `ci`, `flaky`."""
    severity: Severity
    path: str
    test: str = ""
    line: int | None = None
    was: str = ""
    now: str = ""
    cited: str = ""
    """The plan's line that orders it."""
    content: str = ""
    """A digest of the file before and after: whoever signs it off has seen this change and no other."""

    @property
    def place(self) -> str:
        """Where it is, in words."""
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}, {self.test}" if self.test else where

    @property
    def words(self) -> str:
        """What it is, for whoever has to mend it."""
        told = f"{self.place}: {self.rule.replace('-', ' ')}"
        parts = [f"was “{self.was}”" * bool(self.was), f"now “{self.now}”" * bool(self.now)]
        change = ", ".join(part for part in parts if part)
        return f"{told}: {change}" if change else told

    @property
    def key(self) -> str:
        """Name the change, wherever in its file it stands."""
        named = (self.rule, self.path, self.test, self.was, self.now, self.content)
        return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:16]


def remarks_on(findings: Iterable[Finding], changes: Iterable[Change]) -> tuple[Remark, ...]:
    """Put what was found in a suite into the form of remarks."""
    contents = {change.path: content_of(change) for change in changes}
    return tuple(
        Remark(
            one.kind.value,
            one.severity,
            one.path,
            one.test,
            one.line_after or one.line_before,
            one.was,
            one.now,
            cited_words(one.cited),
            contents.get(one.path, ""),
        )
        for one in findings
    )


def content_of(change: Change) -> str:
    """Name the content of a file before and after."""
    told = (b"" if side is None else hashlib.sha256(side).digest() for side in (change.before, change.after))
    return hashlib.sha256(b"|".join(told)).hexdigest()[:16]


def cited_words(cited: Citation | None) -> str:
    """Say where a plan orders something."""
    return "" if cited is None else f"line {cited.line}: {cited.text}"


def failing(remarks: Iterable[Remark]) -> list[Remark]:
    """Give those that fail a phase."""
    return [one for one in remarks if one.severity is Severity.FAILS]


def for_a_person(remarks: Iterable[Remark]) -> list[Remark]:
    """Give those that a person has to sign off before the work lands."""
    return [one for one in remarks if one.severity is Severity.SIGN_OFF]


def asked_about(remarks: Iterable[Remark]) -> list[tuple[Remark, ...]]:
    """Put what a person signs off into questions: one for each change, but one for many of a kind."""
    kinds: dict[str, list[Remark]] = {}
    for one in for_a_person(remarks):
        kinds.setdefault(one.rule, []).append(one)
    asked: list[tuple[Remark, ...]] = []
    for group in kinds.values():
        asked += [tuple(group)] if len(group) > _APART else [(one,) for one in group]
    return asked


def key_of(group: Sequence[Remark]) -> str:
    """Name the changes of one question; one more or another content is another question."""
    keys = sorted({one.key for one in group})
    return keys[0] if len(keys) == 1 else hashlib.sha256("".join(keys).encode()).hexdigest()[:16]


def words_of(group: Sequence[Remark]) -> str:
    """Say what a question is about."""
    if len(group) == 1:
        return group[0].words
    places = ", ".join(one.place for one in group[:_APART])
    rule = group[0].rule.replace("-", " ")
    return (
        f"{len(group)} times {rule}: {places} and {len(group) - _APART} more; `asbuilt report` has them all"
    )


def remark_from(plain: Mapping[str, object]) -> Remark:
    """Read a remark back from what was kept of it."""
    remark = Remark(**plain)  # type: ignore[arg-type]  # our own JSON
    return remark._replace(severity=Severity(remark.severity))
