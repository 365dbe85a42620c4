"""What the body of a test in a language with braces checks, and where its failure would not be seen."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.suites.brace_demands import Names, call_at, condition, side
from asbuilt.proof.suites.brace_words import FAILING, WIDE
from asbuilt.proof.suites.lexing import parted
from asbuilt.proof.suites.model import Assertion, Idle, Kind, Rank, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.proof.suites.lexing import Code, Token

_MOST: Final = 2_000
_GLIMPSE: Final = 500
_FOR_EACH: Final = [".", "forEach", "(", "("]
_NAMES: Final = 40
"""Tokens of a pattern with which a loop names its cases."""
_SWALLOWED: Final = (Kind.FAILURE_SWALLOWED, "its failure is caught and forgotten")
_UNAWAITED: Final = (Kind.FAILURE_SWALLOWED, "nobody waits for it")
_LATER: Final = frozenset(("setTimeout", "setInterval", "setImmediate", "nextTick", "queueMicrotask"))
_DEAD: Final = (Kind.ALWAYS_TRUE, "it is never reached")
_KEYWORDS: Final = frozenset(("func", "function", "fn", "if", "for", "while", "switch", "catch", "return"))
_FAILURES: Final = frozenset(["Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"])
_SKIPS: Final = re.compile(r"^(skip|Skip|Skipf|SkipNow|pending|todo)$")


class Body(NamedTuple):
    """What one body checks."""

    assertions: tuple[Assertion, ...]
    idle: tuple[Idle, ...]


class _Zone(NamedTuple):
    """A stretch of code in which assertions count less."""

    start: int
    end: int
    void: tuple[Kind, str] | None
    guard: str


def body_of(
    code: Code, start: int, end: int, language: str, row: dict[str, list[Token]], aids: frozenset[str]
) -> Body:
    """Read a body, with its parameters standing for the values of one case."""
    names = Names({**_locals(code, start, end, language), **row})
    zones = list(itertools.islice(_zones(code, start, end, language, names), _MOST))
    found: list[Assertion] = []
    at = start
    while at < end and len(found) < _MOST:
        loop = _loop(code, at)
        if loop is not None:
            for case in loop.rows:
                inner = body_of(code, loop.start, loop.end, language, {**row, **case}, aids)
                found += [_placed(one, at, zones) for one in inner.assertions]
            at = loop.end
            continue
        read = call_at(code, at, names, aids)
        if read is not None and not (language == "go" and code.word(at - 1) == "."):
            made, after = read
            found += [_placed(one, at, zones) for one in made]
            # What stands in the arguments of an assertion may assert too: a function that is passed.
            at = at + 1 if any(one.form == "raises" for one in made) else max(after, at + 1)
            continue
        if code.word(at) in ("if", "while") and language == "go":
            found += [_placed(one, at, zones) for one in _failing_if(code, at, names)]
        elif code.word(at) == "if" and language != "go":
            found += [_placed(one, at, zones) for one in _thrown_if(code, at, names)]
        at += 1
    idle = tuple(_idle(code, start, end, zones))
    if not found:
        found = [_placed(one, where, zones) for one, where in _acts(code, start, end, names)]
    return Body(tuple(found), idle)


class _Loop(NamedTuple):
    """A loop over cases that are spelled out."""

    rows: tuple[dict[str, list[Token]], ...]
    start: int
    end: int


def _loop(code: Code, at: int) -> _Loop | None:
    """Read a loop over cases that are spelled out: what its names stand for, case by case.

    `for (const [a, b] of [[1, 2], [3, 4]]) {`, or `[[1, 2], [3, 4]].forEach(([a, b]) => {`.
    """
    if [code.word(at), code.word(at + 1)] == ["for", "("] and code.word(at + 2) in ("const", "let", "var"):
        closing = code.closing(at + 1)
        of = next((n for n in range(at + 3, min(closing, at + _NAMES)) if code.word(n) == "of"), closing)
        named, cases, body = (at + 3, of), of + 1, closing + 1
        is_whole = code.word(cases) == "[" and code.closing(cases) == closing - 1
    elif code.word(at) == "[" and [code.word(code.closing(at) + n) for n in (1, 2, 3, 4)] == _FOR_EACH:
        opening = code.closing(at) + 4
        named, cases, body = (opening + 1, code.closing(opening)), at, code.closing(opening) + 2
        is_whole = code.word(body - 1) == "=>"
    else:
        return None
    if not is_whole or code.word(body) != "{":
        return None
    start, end = (named[0] + 1, named[1] - 1) if code.word(named[0]) == "[" else named
    names = [code.word(first) for first, _ in parted(code, start, end)]
    rows = []
    for first, last in parted(code, cases + 1, code.closing(cases)):
        inner = parted(code, first + 1, last - 1) if code.word(first) == "[" else [(first, last)]
        rows.append({name: code.tokens[a:b] for name, (a, b) in zip(names, inner, strict=False)})
    return _Loop(tuple(rows), body + 1, code.closing(body))


def _placed(one: Assertion, at: int, zones: list[_Zone]) -> Assertion:
    around = [zone for zone in zones if zone.start <= at < zone.end]
    void = next((zone.void for zone in around if zone.void is not None), None)
    guard = " and ".join(zone.guard for zone in around if zone.guard)
    return one._replace(void=one.void or void, guard=guard)


def _locals(code: Code, start: int, end: int, language: str) -> dict[str, list[Token]]:
    """Give the names that are set once, with what they are set to."""
    found: dict[str, list[Token]] = {}
    often: set[str] = set()
    for at in range(start, end):
        if code.word(at) not in ("=", ":=") or code.tokens[at - 1].kind != "name":
            if code.word(at) == "=" and code.word(at - 1) in ("+", "-", "*"):
                often.add(code.word(at - 2))
            continue
        name = code.word(at - 1)
        declared = (
            language == "go"
            or code.word(at - 2) in ("const", "let", "var", "mut")
            or code.tokens[at - 2].kind == "name"
            or code.word(at - 2) in (">", "]", ":")
        )
        if not declared or name in found or code.word(at - 2) in (".", ","):
            often.add(name)
            continue
        stop = at + 1
        while stop < end and code.word(stop) not in (";", "}", ")", ","):
            if (
                stop > at + 1
                and code.tokens[stop].line > code.tokens[stop - 1].line
                and code.word(stop) not in (".", "?.", "+", "||", "&&")
            ):
                break
            stop = code.closing(stop) + 1 if code.word(stop) in ("(", "[", "{") else stop + 1
        value = code.tokens[at + 1 : min(stop, end, at + 62)]
        if (
            code.word(at - 2) == "mut"
            or not value
            or value[0].text in ("[", "{", "new", "vec", "await")
            or len(value) > 60
        ):
            often.add(name)
            continue
        found[name] = [
            inner
            for token in value
            for inner in (found.get(token.text, [token]) if token.kind == "name" else [token])
        ][:120]
    return {name: value for name, value in found.items() if name not in often}


def _zones(code: Code, start: int, end: int, language: str, names: Names) -> Iterator[_Zone]:
    opened: list[int] = []
    for at in range(start, end):
        word = code.word(at)
        while opened and at > code.closing(opened[-1]):
            opened.pop()
        if at in code.partner:
            opened.append(at)
        if word == "try" and code.word(at + 1) == "{":
            yield from _try(code, at + 1, language)
        elif word == "if":
            yield from _if(code, at, end, language, names)
        elif word == "return" and _is_top(code, start, opened):
            after = at + 1
            while (
                after < end
                and code.word(after) not in (";", "}")
                and code.tokens[after].line == code.tokens[at].line
            ):
                after = code.closing(after) + 1 if code.word(after) in ("(", "[", "{") else after + 1
            yield _Zone(after, end, _DEAD, "")
        elif word == "recover" and code.word(at + 1) == "(" and language == "go":
            yield _Zone(start, end, _SWALLOWED, "")
        elif _is_later(code, start, at):
            yield _Zone(at, code.closing(at + 1), _UNAWAITED, "")
        elif word == "catch_unwind":
            opening = at + 1
            yield _Zone(opening, code.closing(opening), _SWALLOWED, "")


def _is_top(code: Code, start: int, opened: list[int]) -> bool:
    """Tell whether code stands in the body itself: in no inner block, function or bracket."""
    # The function that a JavaScript test is given opens a brace of its own.
    own = [
        at for at in opened if code.word(at) == "{" and code.word(at - 1) in ("=>", ")") and at - start < 8
    ]
    return len(opened) == len(own) <= 1


def _glimpse(code: Code, start: int, end: int) -> str:
    """Give the beginning of some code: blocks in blocks would else be read again at every level."""
    return " ".join(token.text for token in code.tokens[start : min(end, start + _GLIMPSE)])


def _try(code: Code, opening: int, language: str) -> Iterator[_Zone]:
    closing = code.closing(opening)
    at = closing + 1
    while code.word(at) == "catch":
        caught = ""
        at += 1
        if code.word(at) == "(":
            caught = " ".join(token.text for token in code.tokens[at + 1 : code.closing(at)])
            at = code.closing(at) + 1
        handler = _glimpse(code, at, code.closing(at))
        if not FAILING.search(handler.removeprefix("{")):
            wide = language == "javascript" or WIDE.search(caught) is not None
            inside = _glimpse(code, opening, closing)
            if not re.search(r"\b(fail|Fail)\b", inside):
                yield _Zone(opening, closing, _SWALLOWED if wide else None, "" if wide else f"no {caught}")
        at = code.closing(at) + 1


def _if(code: Code, at: int, end: int, language: str, names: Names) -> Iterator[_Zone]:
    opening = at + 1
    while opening < end and code.word(opening) != "{":
        if code.word(opening) in ("(", "[") and code.word(opening - 1) != ")":
            opening = code.closing(opening)
        elif language in ("javascript", "java") and code.word(opening - 1) == ")":
            break
        opening += 1
    closing = code.closing(opening) if code.word(opening) == "{" else _statement_end(code, opening, end)
    tokens = code.tokens[at + 1 : min(opening, at + _GLIMPSE)]
    text = side(tokens, names).text.strip("( )")
    inside = _glimpse(code, opening, closing)
    if text in ("false", "0"):
        yield _Zone(opening, closing, _DEAD, "")
    elif (
        (language == "go" and re.search(r"\bt \. (Error|Fatal|Fail)", inside))
        or code.word(closing + 1) == "else"
        or text == "true"
    ):
        return
    else:
        yield _Zone(opening, closing, None, text)
        if re.search(r"\breturn\b( [^;{}]*)?;?\s*$", inside.rstrip("} ")) and not re.search(
            r"expect|assert|fail", inside
        ):
            yield _Zone(closing, end, None, f"not {text}")


def _statement_end(code: Code, at: int, end: int) -> int:
    while at < end and code.word(at) not in (";", "}"):
        at = code.closing(at) + 1 if code.word(at) in ("(", "[", "{") else at + 1
    return min(at, end)


def _is_later(code: Code, start: int, at: int) -> bool:
    """Tell whether what a call is given runs when the test may be over."""
    if code.word(at) == "then":
        return code.word(at - 1) == "." and not _is_awaited(code, start, at)
    return code.word(at) in _LATER and code.word(at + 1) == "("


def _is_awaited(code: Code, start: int, at: int) -> bool:
    """Tell whether somebody waits for the promise that a `.then` belongs to."""
    while at > start and code.word(at) not in (";", "{", "}", "=>", "return", "await"):
        at -= 1
    return code.word(at) in ("return", "await", "=>")


def _failing_if(code: Code, at: int, names: Names) -> list[Assertion]:
    """Read Go's way to assert: a condition under which the test is told to fail."""
    opening = at + 1
    while opening < len(code.tokens) and code.word(opening) != "{":
        opening = code.closing(opening) + 1 if code.word(opening) in ("(", "[") else opening + 1
    inside = range(opening, min(code.closing(opening), opening + _GLIMPSE, len(code.tokens)))
    if not any(code.word(n) in _FAILURES and code.word(n - 1) == "." for n in inside):
        return []
    tokens = code.tokens[at + 1 : opening]
    cuts = [n for n, token in enumerate(tokens) if token.text == ";"]
    return [condition(tokens[cuts[-1] + 1 if cuts else 0 :], names, code.tokens[at].line, negated=True)]


def _thrown_if(code: Code, at: int, names: Names) -> list[Assertion]:
    """Read a condition under which something is thrown or panics."""
    opening = code.closing(at + 1) + 1 if code.word(at + 1) == "(" else at + 1
    while opening < len(code.tokens) and code.word(opening) != "{" and opening < at + 60:
        opening += 1
    if code.word(opening + 1) not in ("throw", "panic"):
        return []
    tokens = code.tokens[at + 1 : opening]
    if tokens and tokens[0].text == "(" and tokens[-1].text == ")":
        tokens = tokens[1:-1]
    return [condition(tokens, names, code.tokens[at].line, negated=True)]


def _idle(code: Code, start: int, end: int, zones: list[_Zone]) -> Iterator[Idle]:
    for at in range(start, end):
        word = code.word(at)
        if (
            _SKIPS.match(word)
            and code.word(at - 1) == "."
            and code.word(at - 2) in ("t", "this", "ctx", "context", "b", "tb")
            and code.word(at + 1) == "("
        ):
            guard = " and ".join(zone.guard for zone in zones if zone.guard and zone.start <= at < zone.end)
            yield Idle(Kind.TEST_SKIPPED, guard, code.tokens[at].line, f"{code.word(at - 2)}.{word}()")
        elif word in ("assumeTrue", "assumeFalse", "assumeThat") and code.word(at + 1) == "(":
            said = " ".join(token.text for token in code.tokens[at + 2 : code.closing(at + 1)])
            yield Idle(
                Kind.TEST_SKIPPED,
                "" if said in ("false", "true") else said,
                code.tokens[at].line,
                shortened(f"{word}({said})"),
            )


def _acts(code: Code, start: int, end: int, names: Names) -> Iterator[tuple[Assertion, int]]:
    """Give the calls of a body that asserts nothing: they must at least run."""
    at = start
    while at < end:
        token = code.tokens[at]
        if (
            token.kind == "name"
            and code.word(at + 1) == "("
            and code.word(at - 1) not in ("func", "function", "fn")
        ):
            stop = code.closing(at + 1) + 1
            value = side(code.tokens[at : min(stop, end)], names)
            if value.calls:
                text = shortened(value.text)
                yield (
                    Assertion(
                        Rank.RUNS, "runs", value.text, "", token.line, text, value.literals, calls=value.calls
                    ),
                    at,
                )
            at = stop
        else:
            at += 1
