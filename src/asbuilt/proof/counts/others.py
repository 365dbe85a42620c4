"""Count tests in the output of Maven, Gradle, RSpec, prove, PHPUnit and dotnet, and in a plain line."""

from __future__ import annotations

import re
from typing import Final

from asbuilt.proof.counts.model import Counts

_SUREFIRE: Final = re.compile(
    r"^(?:\[(?:INFO|WARNING|ERROR)\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$",
    re.MULTILINE,
)
_GRADLE: Final = re.compile(r"^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$", re.MULTILINE)
_RSPEC: Final = re.compile(
    r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) error.*)?$", re.MULTILINE
)
_PROVE: Final = re.compile(r"^Files=\d+, Tests=(\d+), .*\nResult: (PASS|FAIL|NOTESTS)$", re.MULTILINE)
_PROVE_FAILED: Final = re.compile(r"^\S.*\(Wstat: .* Tests: \d+ Failed: (\d+)\)$", re.MULTILINE)
_PHPUNIT: Final = re.compile(
    r"^OK \((\d+) tests?, \d+ assertions?\)$|^Tests: (\d+), Assertions: \d+(.*)\.$", re.MULTILINE
)
_DOTNET: Final = re.compile(
    r"^(?:Passed|Failed)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+), Total: +(\d+)", re.MULTILINE
)
_FAILED_NAME: Final = re.compile(r"^FAIL(?:ED)?:? (\S+)\s*$", re.MULTILINE)
_PLAIN: Final = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)


def from_surefire(text: str) -> Counts | None:
    """Add up the totals of all modules; the lines for single classes end with a time."""
    found = _SUREFIRE.findall(text)
    if not found:
        return None
    total, failures, errors, skipped = (sum(int(row[at]) for row in found) for at in range(4))
    return Counts(max(total - skipped, failures + errors), failures + errors, skipped)


def from_gradle(text: str) -> Counts | None:
    """Add up Gradle's counts of tasks with a failed test; Gradle prints none for other tasks."""
    found = _GRADLE.findall(text)
    if not found:
        return None
    total, failed, skipped = (sum(int(row[at] or 0) for row in found) for at in range(3))
    return Counts(max(total - skipped, failed), failed, skipped)


def from_rspec(text: str) -> Counts | None:
    """Read the last summary of RSpec."""
    found = _RSPEC.findall(text)
    if not found:
        return None
    total, failed, pending, errors = (int(number or 0) for number in found[-1])
    return Counts(max(total - pending, failed + errors), failed + errors, pending)


def from_prove(text: str) -> Counts | None:
    """Read the summary of Perl's prove; a failure outside the tests counts as one."""
    found = _PROVE.findall(text)
    if not found:
        return None
    ran, result = int(found[-1][0]), found[-1][1]
    failed = sum(map(int, _PROVE_FAILED.findall(text))) or int(result == "FAIL")
    return Counts(max(ran, failed), failed, 0)


def from_phpunit(text: str) -> Counts | None:
    """Read the last summary of PHPUnit."""
    found = _PHPUNIT.findall(text)
    if not found:
        return None
    good, total, details = found[-1]
    words = {word: int(number) for word, number in re.findall(r"([A-Z][a-z]+): (\d+)", details)}
    failed = words.get("Errors", 0) + words.get("Failures", 0)
    skipped = words.get("Skipped", 0) + words.get("Incomplete", 0)
    return Counts(max(int(good or total) - skipped, failed), failed, skipped)


def from_dotnet(text: str) -> Counts | None:
    """Add up the summaries of all dotnet test projects."""
    found = _DOTNET.findall(text)
    if not found:
        return None
    failed, passed, skipped = (sum(int(row[at]) for row in found) for at in range(3))
    return Counts(passed + failed, failed, skipped)


def from_plain(text: str) -> Counts | None:
    """Read a line such as `7 passed, 0 failed`, and the failures' names if each failure has one."""
    found = _PLAIN.findall(text)
    if not found:
        return None
    passed, failed, skipped = (int(number or 0) for number in found[-1])
    names = tuple(dict.fromkeys(_FAILED_NAME.findall(text)))
    return Counts(passed + failed, failed, skipped, names if len(names) == failed else ())
