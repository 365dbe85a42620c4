"""What in JavaScript, Go, Rust and Java tests lets a failure count no more: exits, `only`, replacements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.proof.suites.model import Kind, Severity, Trace, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.proof.suites.lexing import Code

_FAILS, _SIGN_OFF = Severity.FAILS, Severity.SIGN_OFF
_RULES: Final = (
    (
        Kind.EXIT_FORCED,
        _FAILS,
        (
            r"(?:process|Deno) \. exit \( (?:0 )?\)|process \. exitCode = 0|os \. Exit \( 0 \)|"
            r"process :: exit \( 0 \)|System \. exit \( 0 \)|Runtime \. getRuntime \( \) \. halt \( 0"
        ),
    ),
    (
        Kind.EXIT_FORCED,
        _SIGN_OFF,
        r"process \. on \( \"(?:exit|uncaughtException|unhandledRejection|beforeExit)\"",
    ),
    (
        Kind.NOT_COLLECTED,
        _FAILS,
        r"\b(?:it|test|describe|context|suite) \. only (?=[(.])|\b(?:fit|fdescribe|ftest) \(|\bonly : true",
    ),
    (Kind.FAILURE_SWALLOWED, _FAILS, r"\bpass : true|pass : \( \) => true"),
    (
        Kind.RUNNER_REPLACED,
        _FAILS,
        (
            r"\b(?:assert|expect|chai|globalThis|global|window)(?: \. \w+)* \. (?:\w+) = (?!=)|"
            r"\b(?:const|let|var|function) (?:expect|assert|it|test|describe) (?:=(?! require)|\()"
        ),
    ),
    (
        Kind.RUNNER_REPLACED,
        _SIGN_OFF,
        (
            r"\b(?:const|let|var) (?:assert|expect) = require \( \"\.[^\"]*\"|"
            r"\bimport (?:\{ )?(?:assert|expect) (?:\} )?from \"\.[^\"]*\""
        ),
    ),
    (Kind.PRODUCT_REPLACED, _SIGN_OFF, r"\b(?:jest|vi|mock) \. (?:mock|doMock|module) \( \"\.[^\"]*\""),
    (
        Kind.FAILURE_SWALLOWED,
        _SIGN_OFF,
        r"\. (?:retryTimes|retries) \( [1-9]|\bretry : [1-9]|@ (?:RetryingTest|Flaky)",
    ),
    (Kind.FAILURE_SWALLOWED, _SIGN_OFF, r"\. catch \( (?:\( \w* ?\)|\w+) => \{ \} \)"),
    (
        Kind.OUTCOME_REWRITTEN,
        _FAILS,
        r"(?:log|Println|println|print|Printf|write) !? ?\( \"[^\"]*\b\d+ (?:passed|passing|tests? passed)",
    ),
    (
        Kind.OUTCOME_REWRITTEN,
        _SIGN_OFF,
        (
            r"\bfunc TestMain \(|panic :: set_hook|implements "
            r"(?:TestExecutionExceptionHandler|InvocationInterceptor|TestWatcher|ExecutionCondition)"
        ),
    ),
)
_PRODUCT: Final = re.compile(
    r"JEST_WORKER_ID|\bVITEST\b|NODE_TEST_CONTEXT|npm_lifecycle_event|execArgv|\"--test\"|"
    r"NODE_ENV (?:===?|!==?) \"test\"|\"test\" === process|"
    r"testing \. Testing \( \)|Lookup \( \"test\.v\" \)|cfg ! \( test \)|\"org\.junit|isRunningTest"
)
_PATCHED: Final = re.compile(r"\b(?:assert|expect|chai|jest|vi)(?: \. \w+)* \. \w+ = (?!=)")
_BUILD_TAG: Final = re.compile(r"^//\s*(?:go:build|\+build)\s+(.+)$", re.MULTILINE)


def traces_of(text: str, code: Code, language: str) -> Iterator[Trace]:
    """Read the traces in a file of tests."""
    said, lines = _spelled(code)
    for kind, severity, pattern in _RULES:
        for found in re.finditer(pattern, said):
            line = lines[said.count(" ", 0, found.start())]
            yield Trace(kind, severity, line, shortened(found[0]), f"{kind}|{found[0]}")
    if language == "go":
        for tag in _BUILD_TAG.findall(text):
            yield Trace(Kind.NOT_COLLECTED, _FAILS, 1, f"only built with {tag}", f"build {tag}")


def product_traces(code: Code) -> Iterator[Trace]:
    """Read the traces in a file of the product: it must not know whether somebody looks."""
    said, lines = _spelled(code)
    for found in _PRODUCT.finditer(said):
        line = lines[said.count(" ", 0, found.start())]
        yield Trace(Kind.KNOWS_THE_TESTS, _SIGN_OFF, line, f"the product looks for {found[0]}", found[0])
    for found in _PATCHED.finditer(said):
        line = lines[said.count(" ", 0, found.start())]
        yield Trace(Kind.RUNNER_REPLACED, _FAILS, line, f"the product changes {found[0]}", found[0])


def _spelled(code: Code) -> tuple[str, list[int]]:
    """Give the code in one spelling, and the line of every token."""
    words = [
        '"' + one.text[1:-1] + '"' if one.kind == "text" and one.text[:1] in "'`" else one.text
        for one in code.tokens
    ]
    lines: list[int] = []
    pieces = []
    for word, token in zip(words, code.tokens, strict=True):
        pieces.append(word)
        lines += [token.line] * (word.count(" ") + 1)
    return " ".join(pieces), [*lines, lines[-1] if lines else 1]
