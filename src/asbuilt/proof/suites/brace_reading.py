"""The tests of JavaScript, TypeScript, Go, Rust and Java files, each with what it checks.

The one rule: rules over tokens, and where they are in doubt a test is compared, not left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.brace_bodies import body_of
from asbuilt.proof.suites.brace_traces import product_traces, traces_of
from asbuilt.proof.suites.lexing import Code, Token, lexed, parted
from asbuilt.proof.suites.model import Assertion, Idle, Kind, Rank, Reading, Test, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUITES: Final = frozenset(["describe", "context", "suite", "xdescribe", "fdescribe", "xcontext"])
_TESTS: Final = frozenset(["it", "test", "specify", "xit", "xtest", "fit", "ftest", "xspecify"])
_EACH: Final = re.compile(r"^(each|for)$")
_JAVA_TESTS: Final = frozenset(
    ["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Property"]
)
_JAVA_IDLE: Final = re.compile(r"^(Disabled\w*|Ignore|EnabledIf\w*|EnabledOn\w*)$")


class _Block(NamedTuple):
    """A test as it stands in a file."""

    name: str
    line: int
    start: int
    end: int
    idle: tuple[Idle, ...]
    rows: tuple[dict[str, list[Token]], ...] = ()
    """What its parameters stand for, case by case."""
    extra: tuple[Assertion, ...] = ()
    is_aid: bool = False


def read_braces(path: str, data: bytes, language: str) -> Reading:
    """Read the tests of a file."""
    text = data.decode("utf-8", "replace")
    code = lexed(text, language)
    blocks = list(_BLOCKS[language](code))
    if sum(block.end - block.start for block in blocks) > 50 * len(code.tokens) + 10_000:
        return Reading(problem="it is nested too deeply")
    aids = frozenset(block.name.rpartition(".")[2] for block in blocks if block.is_aid)
    tests = [_test(path, code, block, language, aids) for block in blocks]
    kept = tuple(
        test for test in tests if not test.is_aid or any(one.form != "runs" for one in test.assertions)
    )
    return Reading(kept, tuple(traces_of(text, code, language)))


def read_product(path: str, data: bytes, language: str) -> Reading:  # noqa: ARG001 - read as tests are
    """Read what a file of the product knows of tests."""
    return Reading((), tuple(product_traces(lexed(data.decode("utf-8", "replace"), language))))


def _test(path: str, code: Code, block: _Block, language: str, aids: frozenset[str]) -> Test:
    found: list[Assertion] = []
    idle: list[Idle] = list(block.idle)
    for row in block.rows or ({},):
        body = body_of(code, block.start, block.end, language, row, aids - {block.name})
        found += body.assertions
        idle += [one for one in body.idle if one not in idle]
    words = frozenset(token.text[:80] for token in code.tokens[block.start : block.end] if token.kind != "op")
    return Test(path, block.name, block.line, (*found, *block.extra), tuple(idle), words, is_aid=block.is_aid)


def _javascript(code: Code) -> Iterator[_Block]:
    suites: list[tuple[int, str, tuple[Idle, ...]]] = []
    quiet = _aliases(code)
    for at, token in enumerate(code.tokens):
        while suites and at >= suites[-1][0]:
            suites.pop()
        is_sub = code.word(at - 1) == "." and code.word(at - 2) in ("t", "ctx")
        if (
            token.kind != "name"
            or token.text not in _SUITES | _TESTS | set(quiet)
            or (code.word(at - 1) == "." and not is_sub)
        ):
            continue
        opening, words, cases = _modifiers(code, at)
        if opening is None:
            continue
        end = code.closing(opening)
        args = parted(code, opening + 1, end)
        if not args or (len(args) < 2 and "todo" not in words and code.tokens[args[0][0]].kind != "text"):
            continue
        outer = suites[-1] if suites else (0, "", ())
        own = " ".join(_unquoted(one) for one in code.tokens[args[0][0] : args[0][1]])
        idle = (*outer[2], *_javascript_idle(code, token, words, args, quiet))
        name = f"{outer[1]} > {own}" if outer[1] else own
        if token.text in _SUITES:
            suites.append((end, name, idle))
            continue
        start = args[-1][0] if len(args) > 1 else end
        yield _Block(name, token.line, start, end, idle, _rows(code, cases, start))
    yield from _functions(code, r"function|const")


def _aliases(code: Code) -> dict[str, str]:
    """Find names that stand for a test that is skipped: `const later = it.skip`."""
    found = {}
    for at, token in enumerate(code.tokens):
        if (
            token.text == "="
            and code.word(at + 1) in _TESTS
            and code.word(at + 2) == "."
            and code.word(at + 3) in ("skip", "todo")
        ):
            found[code.word(at - 1)] = code.word(at + 3)
    return found


def _modifiers(code: Code, at: int) -> tuple[int | None, list[str], int | None]:
    """Read `.skip`, `.each([...])` and their like up to the bracket of the test itself."""
    words: list[str] = []
    cases: int | None = None
    at += 1
    while code.word(at) == ".":
        words.append(code.word(at + 1))
        at += 2
        if _EACH.match(words[-1]):
            cases = at
            at = code.closing(at) + 1 if code.word(at) == "(" else at + 1
        elif words[-1] in ("skipIf", "runIf", "extend") and code.word(at) == "(":
            at = code.closing(at) + 1
    return (at if code.word(at) == "(" else None), words, cases


def _javascript_idle(
    code: Code, token: Token, words: list[str], args: list[tuple[int, int]], quiet: dict[str, str]
) -> Iterator[Idle]:
    spelled = ".".join([token.text, *words])
    if (
        token.text.startswith("x")
        or token.text in quiet
        or {"skip", "todo"} & set(words)
        or (len(args) < 2 and token.text in _TESTS)
    ):
        yield Idle(Kind.TEST_SKIPPED, "", token.line, spelled)
    if {"fails", "failing"} & set(words):
        yield Idle(Kind.TEST_EXPECTED_TO_FAIL, "", token.line, spelled)
    if {"skipIf", "runIf"} & set(words):
        yield Idle(Kind.TEST_SKIPPED, spelled, token.line, spelled)
    for start, end in args[1:]:
        said = "".join(one.text for one in code.tokens[start : min(end, start + 60)])
        if said.startswith("{") and re.search(r"\b(skip|todo):(?!false)", said):
            yield Idle(Kind.TEST_SKIPPED, "", token.line, shortened(said))


def _rows(code: Code, cases: int | None, body: int) -> tuple[dict[str, list[Token]], ...]:
    """Give the literal cases of `each`, by the names of the function's parameters."""
    if cases is None or code.word(cases) != "(" or code.word(cases + 1) != "[":
        return ()
    opening = next((at for at in range(body, min(body + 4, len(code.tokens))) if code.word(at) == "("), None)
    if opening is None:
        return ()
    names = [code.tokens[start].text for start, _ in parted(code, opening + 1, code.closing(opening))]
    found = []
    for start, end in parted(code, cases + 2, code.closing(cases + 1)):
        inner = parted(code, start + 1, end - 1) if code.word(start) == "[" else [(start, end)]
        found.append({name: code.tokens[a:b] for name, (a, b) in zip(names, inner, strict=False)})
    return tuple(found)


def _unquoted(token: Token) -> str:
    return token.text[1:-1] if token.kind == "text" else token.text


def _go(code: Code) -> Iterator[_Block]:
    for block in _functions(code, "func"):
        name = block.name
        is_test = re.match(r"^(Test|Fuzz|Example)(?![a-z])", name) is not None and name != "TestMain"
        rows = tuple(_table(code, block.start, block.end))
        yield block._replace(is_aid=not is_test, extra=rows if is_test else ())


def _table(code: Code, start: int, end: int) -> Iterator[Assertion]:
    """Give the rows of a table of cases, each a demand of its own."""
    for at in range(start, end):
        if code.word(at) != "{" or (
            code.word(at - 1) not in ("}", "]", "T") and code.tokens[at - 1].kind != "name"
        ):
            continue
        before = [code.word(back) for back in range(max(start, at - 60), at)]
        rows = [
            part
            for part in parted(code, at + 1, code.closing(at))
            if code.word(part[1] - 1) == "}" and "{" in (code.word(part[0]), code.word(part[0] + 2))
        ]
        if (
            len(rows) < 1
            or "]" not in before
            or ("struct" not in before and "map" not in before and "[" not in before[-6:])
        ):
            continue
        for one, other in rows:
            tokens = code.tokens[one:other]
            text = " ".join(token.text for token in tokens)
            literals = frozenset(token.text for token in tokens if token.kind in ("number", "text"))
            yield Assertion(Rank.EQUAL, "case", text, "", tokens[0].line, shortened(text), literals, literals)
        return


def _functions(code: Code, words: str) -> Iterator[_Block]:
    """Give every named function with its body."""
    for at, token in enumerate(code.tokens):
        if token.kind != "name" or not re.fullmatch(words, token.text):
            continue
        name_at = code.closing(at + 1) + 1 if code.word(at + 1) == "(" else at + 1
        if name_at >= len(code.tokens) or code.tokens[name_at].kind != "name":
            continue
        opening = name_at + 1
        if token.text == "const":
            arrow = next(
                (
                    n
                    for n in range(name_at, min(name_at + 40, len(code.tokens)))
                    if code.word(n) in ("=>", ";")
                ),
                None,
            )
            if (
                code.word(name_at + 1) != "="
                or arrow is None
                or code.word(arrow) != "=>"
                or code.word(arrow + 1) != "{"
            ):
                continue
            yield _Block(
                code.tokens[name_at].text, token.line, arrow + 2, code.closing(arrow + 1), (), is_aid=True
            )
            continue
        limit = min(opening + 200, len(code.tokens))
        while opening < limit and code.word(opening) not in ("{", ";"):
            opening = code.closing(opening) + 1 if code.word(opening) in ("(", "[") else opening + 1
        if code.word(opening) == "{":
            yield _Block(
                code.tokens[name_at].text, token.line, opening + 1, code.closing(opening), (), is_aid=True
            )


def _rust(code: Code) -> Iterator[_Block]:
    closes = {end: start for start, end in code.partner.items()}
    for block in _functions(code, "fn"):
        marks = _attributes(code, block, closes)
        is_test = any(
            re.search(r"(^|:: )(test|rstest|test_case|quickcheck|proptest)( \(|$)", mark) for mark in marks
        )
        idle = [
            Idle(Kind.TEST_SKIPPED, "" if not mark.startswith("cfg_attr") else mark, block.line, f"#[{mark}]")
            for mark in marks
            if re.match(r"ignore\b|cfg_attr \(.*ignore", mark)
        ]
        idle += [
            Idle(Kind.TEST_SKIPPED, mark, block.line, f"#[{mark}]")
            for mark in marks
            if re.match(r"cfg \( (?!test \))", mark)
        ]
        panics = [mark for mark in marks if mark.startswith("should_panic")]
        idle += [
            Idle(Kind.TEST_EXPECTED_TO_FAIL, "should_panic", block.line, f"#[{mark}]") for mark in panics
        ]
        cases = [mark for mark in marks if re.match(r"(test_case|case)\b", mark)]
        extra = [
            Assertion(
                Rank.EQUAL, "raises", "panic", f"panic|{mark.partition('=')[2].strip(' )')}", block.line, mark
            )
            for mark in panics
        ]
        extra += [
            Assertion(
                Rank.EQUAL,
                "case",
                mark,
                "",
                block.line,
                mark,
                frozenset(re.findall(r'"[^"]*"|\d[\w.]*', mark)),
                frozenset(re.findall(r'"[^"]*"|\d[\w.]*', mark)),
            )
            for mark in cases
        ]
        yield block._replace(is_aid=not is_test, idle=tuple(idle) if is_test else (), extra=tuple(extra))


def _attributes(code: Code, block: _Block, closes: dict[int, int]) -> list[str]:
    """Give the attributes before a function, each as a text."""
    at = next(
        n for n in range(block.start, -1, -1) if code.word(n) == "fn" and code.word(n + 1) == block.name
    )
    while code.word(at - 1) in ("pub", "async", "unsafe", "const", "extern"):
        at -= 1
    found: list[str] = []
    while code.word(at - 1) == "]" and at - 1 in closes and code.word(closes[at - 1] - 1) == "#":
        start = closes[at - 1]
        found.append(" ".join(token.text for token in code.tokens[start + 1 : at - 1]))
        at = start - 1
    return found


def _java(code: Code) -> Iterator[_Block]:
    """Read annotated methods, and the annotations of the class around them."""
    whole: tuple[Idle, ...] = ()
    at = 0
    waiting: list[tuple[str, str, int]] = []
    while at < len(code.tokens):
        token = code.tokens[at]
        if token.text == "@" and at + 1 < len(code.tokens):
            end = at + 1
            while code.word(end + 1) == "." and end + 2 < len(code.tokens):
                end += 2
            name = code.word(end)
            said = ""
            if code.word(end + 1) == "(":
                said = " ".join(one.text for one in code.tokens[end + 2 : code.closing(end + 1)])
                end = code.closing(end + 1)
            waiting.append((name, said, token.line))
            at = end + 1
        elif token.text in ("class", "interface", "record", "object") and code.word(at - 1) != ".":
            whole = tuple(_java_idle(waiting))
            waiting = []
            at += 2
        elif (
            token.kind == "name"
            and code.word(at + 1) == "("
            and (code.tokens[at - 1].kind == "name" or code.word(at - 1) in (">", "]"))
        ):
            at, block = _method(code, at, waiting, whole)
            waiting = []
            if block is not None:
                yield block
        else:
            if token.text in (";", "}"):
                waiting = []
            at += 1


def _method(
    code: Code, at: int, marks: list[tuple[str, str, int]], whole: tuple[Idle, ...]
) -> tuple[int, _Block | None]:
    opening = code.closing(at + 1) + 1
    while code.word(opening) not in ("{", ";", "", ")", "}", ".", ",") and opening < at + 200:
        opening += 1
    if code.word(opening) != "{" or code.word(at - 1) in ("new", "return", "throw", "else"):
        return at + 1, None
    end = code.closing(opening)
    is_test = any(name in _JAVA_TESTS for name, _, _ in marks)
    extra: list[Assertion] = []
    for name, said, line in marks:
        if name == "Test" and "expected" in said:
            extra.append(
                Assertion(
                    Rank.EQUAL,
                    "raises",
                    "",
                    f"{said.partition('=')[2].strip().removesuffix(' . class')}|",
                    line,
                    said,
                )
            )
        if name.endswith("Source"):
            rows = re.findall(r'"(?:\\.|[^"\\])*"|(?<![\w.])-?\d[\w.]*', said)
            extra += [
                Assertion(Rank.EQUAL, "case", row, "", line, row, frozenset((row,)), frozenset((row,)))
                for row in rows
            ]
    idle = (*whole, *_java_idle(marks)) if is_test else ()
    return end + 1, _Block(
        code.word(at), code.tokens[at].line, opening + 1, end, idle, (), tuple(extra), not is_test
    )


def _java_idle(marks: list[tuple[str, str, int]]) -> Iterator[Idle]:
    for name, said, line in marks:
        if _JAVA_IDLE.match(name):
            yield Idle(
                Kind.TEST_SKIPPED,
                "" if name in ("Disabled", "Ignore") else f"{name} {said}",
                line,
                f"@{name}",
            )
        elif name == "Test" and re.search(r"enabled = false", said):
            yield Idle(Kind.TEST_SKIPPED, "", line, f"@{name}({said})")


_BLOCKS: Final = {"javascript": _javascript, "go": _go, "rust": _rust, "java": _java}
