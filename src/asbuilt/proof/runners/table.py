"""The known test runners: one row each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt.proof.runners.lines import (
    django_in,
    gradle_in,
    maven_in,
    node_in,
    pytest_in,
    started_as,
    tool,
    unittest_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# fmt: off
Runner = Literal[
    "pytest", "unittest", "django", "node", "vitest", "jest", "mocha", "ava", "tap",
    "go", "cargo", "nextest", "ctest", "meson", "maven", "gradle",
]
# fmt: on


class Call(NamedTuple):
    """A command line with its environment and reports."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = {}
    """Additional environment variables."""
    reports: tuple[str, ...] = ()
    """Patterns for the ends of the paths of the JUnit files that it writes below its checkout.

    Files that match before the command starts are not its own and have to be deleted.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How to find and call a runner. `{report}` stands for a file's path, `{word}` for part of a name."""

    find: Callable[[Sequence[str]], int | None]
    """Returns the index of the last word before its own arguments."""
    sign: str | None = None
    """Pattern in its output, for command lines that do not name it."""
    names: tuple[str, ...] = ()
    """Words that make it report each test by name."""
    chosen: tuple[str, ...] = ()
    """Prefixes of words by which the user has chosen another report."""
    reports: tuple[str, ...] = ()
    fast: tuple[str, ...] = ()
    """Words that end it at the first failure, if every release in use supports them."""
    slow: tuple[str, ...] = ()
    """Words that prevent that and are then removed."""
    word: tuple[str, ...] | None = None
    """Words that narrow it to tests with `{word}` in their names; None if it has no such option."""
    first: bool = False
    """True: words that narrow or end it are added before its own arguments, where it expects options."""
    at_end: bool = False
    """True: the words of `names` are also added after its own arguments."""
    in_packages: bool = False
    """True: a script of package.json may start it, which adds words after its own."""


_PYTEST_SIGN: Final = r"^=+ .*\bin [\d.]+s\b.*=+$|^\d+ (?:passed|failed)\b.* in [\d.]+s"

ROWS: Final[dict[Runner, Row]] = {
    # An argument, not a variable: a variable would reach every pytest that a test starts, and the last one
    # to end would overwrite the report.
    "pytest": Row(
        find=pytest_in,
        sign=_PYTEST_SIGN,
        names=("--junitxml={report}",),
        chosen=("--junitxml", "--junit-xml"),
        fast=("-x",),
        word=("--maxfail=0", "-k", "{word}"),
    ),
    "unittest": Row(
        find=unittest_in,
        sign=r"^Ran \d+ tests? in [\d.]+s$",
        names=("-v",),
        chosen=("-v", "--verbose", "-q", "--quiet"),
        fast=("-f",),
        word=("-k", "{word}"),
        at_end=True,
    ),
    "django": Row(
        find=django_in,
        names=("-v", "2"),
        chosen=("-v", "--verbosity"),
        fast=("--failfast",),
        word=("-k", "{word}"),
        at_end=True,
    ),
    "vitest": Row(
        find=tool("vitest", "vitest.mjs"),
        sign=r"^\s*Test Files\s+\d+",
        names=("--reporter=default", "--reporter=junit", "--outputFile.junit={report}"),
        chosen=("--reporter", "--outputFile"),
        fast=("--bail=1",),
        word=("-t", "{word}"),
        in_packages=True,
    ),
    "jest": Row(
        find=tool("jest", "jest.js"),
        sign=r"^Test Suites: ",
        names=("--json", "--outputFile={report}"),
        chosen=("--json", "--outputFile"),
        fast=("--bail",),
        word=("-t", "{word}"),
        in_packages=True,
    ),
    "mocha": Row(
        find=tool("mocha", "_mocha", "mocha.js", "mocha.cjs"),
        sign=r"^  \d+ passing \(",
        names=("--reporter", "spec"),
        chosen=("--reporter", "-R"),
        fast=("--bail",),
        word=("--grep", "{word}"),
        in_packages=True,
    ),
    "ava": Row(
        find=tool("ava"),
        sign=r"^  (?:\d+ tests? (?:passed|failed)|✘ No tests found)",
        fast=("--fail-fast",),
        word=("--match=*{word}*",),
        in_packages=True,
    ),
    "tap": Row(find=tool("tap"), fast=("--bail",), in_packages=True),
    # Its JUnit reporter is not in every release in use; its output has the names.
    "node": Row(find=node_in, sign=r"^(?:#|ℹ) tests \d+$", word=("--test-name-pattern={word}",), first=True),
    "go": Row(
        find=started_as("go", "test"),
        sign=r"^ok  \t\S+",
        names=("-v",),
        chosen=("-v", "-json"),
        fast=("-failfast",),
        word=("-run", "{word}"),
        first=True,
    ),
    "cargo": Row(
        find=started_as("cargo", "test"),
        sign=r"^test result: ",
        slow=("--no-fail-fast",),
        word=("--no-fail-fast", "{word}"),
        first=True,
    ),
    "nextest": Row(
        find=started_as("cargo", "nextest", "run"),
        sign=r"^\s+Summary \[",
        slow=("--no-fail-fast",),
        word=("--no-fail-fast", "{word}"),
        first=True,
    ),
    "ctest": Row(
        find=started_as("ctest"),
        sign=r"^\d+% tests passed, \d+ tests failed out of \d+$",
        names=("--output-junit", "{report}"),
        chosen=("--output-junit",),
        fast=("--stop-on-failure",),
        word=("-R", "{word}"),
    ),
    # Its JUnit file counts what TAP and Google Test programs report inside one test; its output does not.
    "meson": Row(find=started_as("meson", "test"), sign=r"^Ok: +\d+\s*$", word=("{word}",)),
    "maven": Row(
        find=maven_in,
        sign=r"^\[(?:INFO|WARNING|ERROR)\] Tests run: \d+",
        reports=(
            "target/surefire-reports/TEST-*.xml",
            "target/failsafe-reports/TEST-*.xml",
        ),
        fast=("-Dsurefire.skipAfterFailureCount=1",),
        word=("-Dtest=*{word}*", "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false"),
    ),
    "gradle": Row(
        find=gradle_in,
        sign=r"^BUILD (?:SUCCESSFUL|FAILED) in ",
        reports=("build/test-results/*/TEST-*.xml",),
        word=("--tests", "*{word}*"),
        first=True,
    ),
}
"""In search order."""


def is_printed_by(runner: Runner, output: str) -> bool:
    """Return whether an output looks like a runner's."""
    sign = ROWS[runner].sign
    return sign is not None and re.search(sign, output, re.MULTILINE) is not None
