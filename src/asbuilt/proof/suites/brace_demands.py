"""What a test in a language with braces demands: `expect` and `assert` in their kinds, failing conditions.

The one rule: read from tokens, so that spelling and strings never decide.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from typing import Final, NamedTuple

from asbuilt.proof.suites.brace_words import (
    CHECKING,
    EXPECTED_FIRST,
    LITERALS,
    RAISING,
    RANKS,
    ROOTS,
)  # fmt: skip
from asbuilt.proof.suites.lexing import Code, Token, parted
from asbuilt.proof.suites.model import Assertion, Kind, Rank, shortened

_CONTEXTS: Final = ("t", "tc", "s", "b")
_PASSIVE: Final = frozenset(
    [
        "to",
        "be",
        "been",
        "that",
        "which",
        "and",
        "has",
        "have",
        "with",
        "at",
        "of",
        "deep",
        "resolves",
        "is",
        "not",
        "rejects",
        "own",
        "nested",
        "eventually",
        "should",
    ]
)
_SIGNS: Final = ("===", "!==", "==", "!=", "<=", ">=", "<", ">")
_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class Names(NamedTuple):
    """What local names stand for, as tokens."""

    values: dict[str, list[Token]]


class _Side(NamedTuple):
    text: str
    literals: frozenset[str]
    calls: frozenset[str]
    reaches: bool


def side(tokens: list[Token], names: Names) -> _Side:
    """Say what an expression stands for."""
    spread: list[Token] = []
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        known = names.values.get(token.text) if token.kind == "name" and before not in (".", "::") else None
        spread += known if known is not None else [token]
    text = " ".join(_plain(token) for token in spread)
    if len(text) > 600:
        text = f"{text[:80]}…{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"
    literals = frozenset(_plain(token) for token in spread if token.kind in ("number", "text"))
    calls = frozenset(
        token.text
        for token, after in itertools.pairwise(spread)
        if token.kind == "name" and after.text == "(" and token.text not in LITERALS
    )
    reaches = any(token.kind == "name" and token.text not in LITERALS for token in spread)
    return _Side(text, literals, calls, reaches)


def _plain(token: Token) -> str:
    if token.kind == "text" and token.text[:1] in "'`" and "${" not in token.text:
        return '"' + token.text[1:-1] + '"'
    return token.text


def condition(tokens: list[Token], names: Names, line: int, *, negated: bool = False) -> Assertion:
    """Say what a condition demands: a comparison where it is one, else its truth."""
    while tokens and tokens[0].text == "!" and (len(tokens) < 2 or tokens[1].text != "="):
        tokens, negated = tokens[1:], not negated
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.text in "([{") - (token.text in ")]}") if token.kind == "op" else 0
        if depth == 0 and token.kind == "op" and token.text in ("&&", "||"):
            made = condition(tokens[:at], names, line, negated=negated)
            whole = side(tokens, names)
            settled = any(other.text == ("true" if token.text == "||" else "false") for other in tokens)
            void = (
                (Kind.ALWAYS_TRUE, "it is always true")
                if settled and (token.text == "||") != negated
                else made.void
            )
            weaker = (token.text == "||") != negated
            return made._replace(
                rank=min(made.rank, Rank.PARTLY) if weaker else made.rank, expected=whole.text, void=void
            )
        if depth == 0 and token.kind == "op" and token.text in _SIGNS:
            sign = token.text.replace("===", "==").replace("!==", "!=")
            sign = _NEGATED[sign] if negated else sign
            return compared(tokens[:at], sign, tokens[at + 1 :], names, line)
    one = side(tokens, names)
    form = "false" if negated else "true"
    made = Assertion(Rank.TRUE, form, one.text, "", line, shortened(one.text), one.literals, calls=one.calls)
    if re.search(r"\. (startsWith|endsWith|includes|contains|starts_with|ends_with|matches)\b", one.text):
        made = made._replace(rank=Rank.PARTLY)
    return made if one.reaches else made._replace(void=(Kind.ALWAYS_TRUE, "it is always true"))


def compared(left: list[Token], sign: str, right: list[Token], names: Names, line: int) -> Assertion:
    """Say what a comparison demands; the side that can be wrong is the subject."""
    one, other = side(left, names), side(right, names)
    mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    if (other.reaches and not one.reaches) or (other.calls and not one.calls):
        one, other, sign = other, one, mirrored.get(sign, sign)
    if sign == "==":
        return made(Rank.EQUAL, "==", one, other, line)
    bare = other.text in ("null", "nil", "undefined", "None")
    rank = Rank.TRUE if sign == "!=" and bare else Rank.PARTLY
    bound = _number(other.text)
    return made(rank, sign, one, other, line)._replace(bound=bound)


def made(rank: Rank, form: str, one: _Side, other: _Side, line: int) -> Assertion:
    """Make a demand of two sides."""
    void = None
    if one.text == other.text and one.reaches and form == "==":
        void = (Kind.COMPARED_WITH_ITSELF, "both sides are the same")
    elif not one.reaches and not other.reaches:
        void = (Kind.ALWAYS_TRUE, "nothing of the product is in it")
    text = shortened(f"{one.text} {form} {other.text}")
    return Assertion(
        rank, form, one.text, other.text, line, text, one.literals, other.literals, one.calls,
        circular=bool(one.calls & other.calls), void=void,
    )  # fmt: skip


def _number(text: str) -> float | None:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return None


def call_at(code: Code, at: int, names: Names, aids: frozenset[str]) -> tuple[list[Assertion], int] | None:
    """Read the assertion that begins at a token, and where it ends; None when none does."""
    token = code.tokens[at]
    if token.kind != "name" or code.word(at - 1) in (".", "func", "fn", "function", "::", "void", "new"):
        return None
    after = code.word(at + 1)
    if (
        after == "!"
        and code.word(at + 2) in ("(", "[", "{")
        and re.match(r"(debug_|prop_)?assert", token.text)
    ):
        return _macro(code, at, names), code.closing(at + 2) + 1
    if token.text in ROOTS or CHECKING.match(token.text) or token.text in aids:
        return _chain(code, at, names)
    if (
        token.text in _CONTEXTS
        and after == "."
        and code.word(at + 2) in ("is", "true", "deepEqual", "equal", "ok", "assert", "throws", "same")
    ):
        return _chain(code, at, names)
    return None


def _arguments(code: Code, opening: int) -> list[list[Token]]:
    spans = parted(code, opening + 1, code.closing(opening))
    found = [code.tokens[start:end] for start, end in spans]
    if found and len(found[0]) == 1 and found[0][0].text in _CONTEXTS:
        found = found[1:]
    return found


def _macro(code: Code, at: int, names: Names) -> list[Assertion]:
    name, line = code.tokens[at].text.removeprefix("debug_").removeprefix("prop_"), code.tokens[at].line
    args = _arguments(code, at + 2)
    if not args:
        return []
    if name == "assert" or len(args) < 2:
        return [condition(args[0], names, line)]
    if name in ("assert_eq", "assert_ne"):
        return [compared(args[0], "==" if name == "assert_eq" else "!=", args[1], names, line)]
    rank = RANKS.get(name.casefold(), Rank.PARTLY)
    tolerance = next((_number(one[-1].text) for one in args[2:] if one), None)
    return [
        made(
            rank, "~" if rank is Rank.CLOSE else name, side(args[0], names), side(args[1], names), line
        )._replace(tolerance=tolerance)
    ]


def _chain(code: Code, at: int, names: Names) -> tuple[list[Assertion], int]:
    """Read `expect(x).not.toBe(y)`, `assert.equal(x, y)`, `assertThat(x).isEqualTo(y)` and their like."""
    line = code.tokens[at].line
    words: list[tuple[str, list[list[Token]] | None]] = []
    end = at
    while code.tokens[end].kind == "name" if end < len(code.tokens) else False:
        name = code.tokens[end].text
        args = None
        if code.word(end + 1) == "<" and code.word(end + 3) == ">":
            end += 3
        if code.word(end + 1) == "(":
            args = _arguments(code, end + 1)
            end = code.closing(end + 1)
        words.append((name, args))
        if code.word(end + 1) not in (".", "?."):
            break
        end += 2
    return _demands(words, names, line), end + 1


def _demands(words: list[tuple[str, list[list[Token]] | None]], names: Names, line: int) -> list[Assertion]:
    root, first = words[0]
    rest = words[1:]
    said = [name for name, _ in rest]
    if "catch" in said:
        return [
            one._replace(void=(Kind.FAILURE_SWALLOWED, "its failure is caught and forgotten"))
            for one in _demands([word for word in words if word[0] != "catch"], names, line)
        ]
    if first is not None and root in ("expect", "assertThat", "should") and rest:
        subject = first[0] if first else []
        negated = "not" in said
        found = [
            _matched(name, subject, args or [], names, line, negated=negated)
            for name, args in rest
            if name not in _PASSIVE or (name == "is" and args)
        ]
        if rest[-1][1] is None and re.match(r"to[A-Z]", rest[-1][0]):
            return [one._replace(void=(Kind.ALWAYS_TRUE, "the matcher is not called")) for one in found]
        return found or [condition(subject, names, line)]
    if first is not None and root == "assertThat" and len(first) > 1:
        # Hamcrest: assertThat(actual, is(equalTo(expected))).
        inner = [token for token in first[1] if token.text not in ("is", "(", ")", "equalTo")]
        return [made(Rank.EQUAL, "==", side(first[0], names), side(inner, names), line)]
    name, args = next(((name, args) for name, args in reversed(words) if args is not None), (root, first))
    if args is None:
        return []
    if name in ("fail", "Fail"):
        return [Assertion(Rank.EQUAL, "fail", "", "", line, name)]
    if name in ("assert", "ok", "True", "assertTrue", "isTrue", "true") and args:
        return [condition(args[0], names, line)]
    if name in ("assertFalse", "False", "false", "isFalse", "notOk") and args:
        return [condition(args[0], names, line, negated=True)]
    return [_called(root, name, args, names, line)]


def _called(root: str, name: str, args: list[list[Token]], names: Names, line: int) -> Assertion:
    folded = name.casefold()
    if root not in ROOTS and args:
        # What a function of the tests makes of its arguments is read there.
        one, other = side([token for arg in args[:-1] or args for token in arg], names), side(args[-1], names)
        return made(Rank.EQUAL, name, one._replace(reaches=True), other, line)
    expected_first = folded in EXPECTED_FIRST or (root in ("assert", "require") and name[:1].isupper())
    if not args:
        return Assertion(Rank.RUNS, name, root, "", line, name)
    if folded in RAISING:
        thrown, body = (
            (args[0], args[1])
            if expected_first or (folded.startswith("assert") and len(args) > 1)
            else (args[1] if len(args) > 1 else [], args[0])
        )
        return _raising(thrown, side(body, names), names, line)
    if len(args) == 1:
        one = side(args[0], names)
        rank = RANKS.get(folded, Rank.EQUAL)
        value = "nil" if folded in ("nil", "noerror", "assertnull", "isnull") else ""
        return made(
            rank, "==" if value else name, one, _Side(value, frozenset(), frozenset(), reaches=False), line
        )
    one, other = (
        (side(args[1], names), side(args[0], names))
        if expected_first
        else (side(args[0], names), side(args[1], names))
    )
    if other.reaches and not one.reaches:
        one, other = other, one
    rank = RANKS.get(folded, Rank.EQUAL)
    delta = _number(args[2][-1].text) if len(args) > 2 and args[2] else None
    if rank is Rank.CLOSE or (rank is Rank.EQUAL and delta is not None and folded == "assertequals"):
        return made(Rank.CLOSE, "~", one, other, line)._replace(tolerance=delta)
    return made(rank, "==" if rank is Rank.EQUAL else name, one, other, line)


def _matched(
    name: str, subject: list[Token], args: list[list[Token]], names: Names, line: int, *, negated: bool
) -> Assertion:
    """Read one matcher of a chain."""
    folded = name.casefold()
    one = side(subject, names)
    other = side([token for arg in args[:1] for token in arg], names)
    if folded in RAISING and not negated:
        return _raising(args[0] if args else [], one, names, line)
    rank = RANKS.get(folded, Rank.EQUAL)
    if folded in ("tobetruthy", "tobefalsy", "istrue", "isfalse", "true", "false") or (
        folded == "ok" and not args
    ):
        is_false = folded in ("tobefalsy", "isfalse", "false")
        return condition(subject, names, line, negated=is_false != negated)
    if rank is Rank.CLOSE:
        digits = _number(args[1][-1].text) if len(args) > 1 and args[1] else 2.0
        tolerance = (
            digits
            if folded != "tobecloseto" or digits is None
            else 0.5 * 10.0 ** -min(max(digits, -300.0), 300.0)
        )
        return made(rank, "~", one, other, line)._replace(tolerance=tolerance)
    if other.text.replace(" ", "").startswith(("expect.anything", "expect.any(", "mock.Anything")):
        rank = Rank.TRUE
    if negated:
        rank = (
            Rank.TRUE
            if folded in ("tobenull", "tobeundefined", "null", "undefined")
            else min(rank, Rank.PARTLY)
        )
        return made(rank, f"not {name}", one, other, line)
    form = "==" if rank is Rank.EQUAL and args else name
    found = made(rank, form, one, other, line)
    return found._replace(bound=_number(other.text)) if "than" in folded else found


def _raising(thrown: list[Token], body: _Side, names: Names, line: int) -> Assertion:
    said = side(thrown, names).text if thrown else ""
    text = re.sub(
        r"^(async )?(\( \) =>|\( \) ->|function \( \))\s*(\{ )?(await |return )?|( ;)?( \})?$", "", body.text
    )
    quoted = bool(thrown) and thrown[0].kind == "text"
    expected = f"|{said}" if quoted else f"{said.removesuffix(' . class')}|"
    rank, shown = Rank.EQUAL if said else Rank.PARTLY, shortened(f"throws {said}")
    return Assertion(rank, "raises", text, expected, line, shown, body.literals, calls=body.calls)
