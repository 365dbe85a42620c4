"""Find lines by which a failure no longer counts, or by which the product detects its tests. Pure.

Only added lines are read, in any language. Rule: a moved line is not new.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from asbuilt.proof.suites.model import Change, Finding, Kind, Severity, shortened
from asbuilt.proof.suites.path_roles import Role, is_test_code, kind_of_code, role_of

_COMMENT: Final = re.compile(r"^\s*(?:#(?!\[|!|\s*define\b)|//|\*|/\*|--\s)")
_QUOTED: Final = re.compile(r"`[^`]*`")
_MACRO: Final = r"\bmacro_rules!\s*(?:debug_)?assert(?:_eq|_ne)?\b|#\s*define\s+(?:assert|static_assert)\b"
"""An assertion of the language, redefined."""


class _Rule(NamedTuple):
    kind: Kind
    severity: Severity
    of_tests: bool
    """True: applies to test code; otherwise to the product."""
    pattern: re.Pattern[str]
    now: str = ""


_RULES: Final = (
    _Rule(
        Kind.KNOWS_THE_TESTS, Severity.SIGN_OFF, False,
        re.compile(
            r"\bPYTEST_\w+|[\"'](?:_?pytest|unittest)(?:\.\w+)*[\"']|^\s*(?:import|from)\s+(?:_?pytest|unittest)\b"
            r"|\bJEST_WORKER_ID\b|\bVITEST\b|\bNODE_TEST_CONTEXT\b|\bnpm_lifecycle_event\b|\bexecArgv\b|[\"']--test[\"']"
            r"|NODE_ENV\b.{0,20}[\"']test[\"']|testing\.Testing\(\)|Lookup\(\"test\.|Args\[0\].{0,40}\.test\b|cfg!\(test\)"
            r"|[\"']org\.junit|isRunningTest|\bBATS_\w+|\bMAKELEVEL\b|\bMAKEFLAGS\b|\bGO_TEST\w*|\bCARGO_TARGET_TMPDIR\b"
            r"|\binspect\.stack\(|\bsys\._getframe\(|\btraceback\.extract_stack\(|\bps\b[^\n]*\$PPID|/proc/\$PPID"
        ),
        "the product looks whether it is tested",
    ),
    _Rule(
        Kind.RUNNER_REPLACED, Severity.FAILS, False,
        re.compile(
            r"\b(?:assert|expect|chai|jest|vi)(?:\.\w+)*\.\w+\s*=(?![=>])|\bTestCase\.\w+\s*=(?!=)"
            r"|\bsetattr\(\s*(?:unittest|_?pytest|builtins)\b|\b(?:unittest|_pytest|builtins|pytest)(?:\.\w+)+\s*=(?!=)"
            rf"|{_MACRO}"
        ),
        "the product changes the runner",
    ),
    _Rule(
        Kind.RUNNER_REPLACED, Severity.SIGN_OFF, True,
        re.compile(
            r"\b(?:assert|expect|chai)(?:\.\w+)*\.\w+\s*=(?![=>])|\bTestCase\.\w+\s*=(?!=)"
            r"|\bsetattr\(\s*(?:unittest|_?pytest|builtins)\b|\b(?:_pytest|builtins|unittest)(?:\.\w+)+\s*=(?!=)"
            r"|\b(?:const|let|var|function)\s+(?:expect|assert|it|test|describe)\s*(?:=(?!\s*(?:await\s+)?(?:require|import))|\()"
            rf"|{_MACRO}"
        ),
        "the tests change the runner",
    ),
    _Rule(
        Kind.EXIT_FORCED, Severity.SIGN_OFF, True,
        re.compile(
            r"\b(?:process|Deno)\.exit\((?:0\s*)?\)|process\.exitCode\s*=\s*0|\bos\.Exit\(0\)|process::exit\(0\)"
            r"|\bSystem\.exit\(0\)|\bos\._exit\(|\bsys\.exit\((?:0\s*)?\)|\bpytest\.exit\(|\batexit\.register\("
            r"|process\.on\(\s*[\"'](?:exit|uncaughtException|unhandledRejection|beforeExit)[\"']"
        ),
    ),
    _Rule(Kind.EXIT_FORCED, Severity.SIGN_OFF, False, re.compile(r"\bos\._exit\(")),
    _Rule(
        Kind.OUTCOME_REWRITTEN, Severity.SIGN_OFF, True,
        re.compile(
            r"\bdef pytest_(?:runtest_\w+|pyfunc_call|report_\w+|sessionfinish|collection_\w+|collect_\w+"
            r"|pycollect_\w+|ignore_collect|itemcollected|deselected|exception_interact|cmdline_main"
            r"|load_initial_conftests|unconfigure|fixture_setup|generate_tests)\b|\bdef load_tests\b"
            r"|\bfunc TestMain\(|panic::set_hook"
            r"|implements\s+(?:TestExecutionExceptionHandler|InvocationInterceptor|TestWatcher)"
        ),
    ),
    _Rule(
        Kind.FAILURE_SWALLOWED, Severity.SIGN_OFF, True,
        re.compile(
            r"\.(?:retryTimes|retries)\(\s*[1-9]|\bretry:\s*[1-9]|@(?:RetryingTest|Flaky\b)|@(?:pytest\.mark\.)?flaky\b"
        ),
    ),
    _Rule(
        Kind.PRODUCT_REPLACED, Severity.SIGN_OFF, True,
        re.compile(
            r"\b(?:jest|vi|mock)\.(?:mock|doMock|module)\(\s*[\"']\.[^\"']*[\"']|\bsys\.modules\[[^\]]+\]\s*="
        ),
        "the tests put something in the place of the product",
    ),
)  # fmt: skip
_EQUALS: Final = re.compile(
    r"(?m)^([ \t]*)def __eq__\(.*\n(?:\1[ \t]+.*\n|\s*\n){1,12}|\b(?:equals|Equal)\([^)]*\)[^{;]*\{[^}]*\}"
)
_TO_ALL: Final = re.compile(r"\breturn [Tt]rue\b|\babs\(|\bisclose\(|(?<![-=])[<>]=?(?![<>])")
"""What makes a comparison true for unequal values."""


def traces(changes: Sequence[Change]) -> Iterator[Finding]:
    """Find such lines in all code files that differ."""
    known = Counter(line for file_change in changes for line in _lines(file_change.old))
    for change in changes:
        if (
            change.after is None
            or not kind_of_code(change.path)
            or role_of(change.path) in (Role.SHADOW, Role.SETTINGS)
        ):
            continue
        of_tests = is_test_code(change.path)
        for number, line in enumerate(_lines(change.new), 1):
            if not line or known[line]:
                known[line] -= 1
            elif not _COMMENT.match(line):
                yield from _in_line(change.path, number, line, of_tests=of_tests)
        yield from _equal_to_all(change)


def _in_line(path: str, number: int, line: str, *, of_tests: bool) -> Iterator[Finding]:
    for rule in _RULES:
        found = rule.pattern.search(_QUOTED.sub("``", line)) if rule.of_tests == of_tests else None
        if found is not None:
            now = f"{rule.now}: {shortened(line)}" if rule.now else shortened(line)
            yield Finding(rule.kind, rule.severity, path, now, line=number)


def _equal_to_all(change: Change) -> Iterator[Finding]:
    """Find a comparison that is true too often: no test that uses it can fail."""
    known = {found[0] for found in _EQUALS.finditer(change.old)}
    made = (found[0] for found in _EQUALS.finditer(change.new))
    if any(line not in known and _TO_ALL.search(line) for line in made):
        now = "its comparison holds for what is not the same"
        yield Finding(Kind.EQUALS_ANYTHING, Severity.SIGN_OFF, change.path, now)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]
