"""What a Python assertion demands: `assert`, unittest, mock, numpy and pytest in the same terms.

The one rule: a demand that cannot fail is void, however it is dressed up.
"""

from __future__ import annotations

import ast
import re

from asbuilt.proof.suites.model import Assertion, Kind, Rank, shortened
from asbuilt.proof.suites.python_values import Scope, Value, constant, number, truth, value_of
from asbuilt.proof.suites.python_vocabulary import (
    ASSERTING,
    CLOSE,
    MIRRORED,
    NEGATED,
    PARTLY,
    RAISING,
    SIGNS,
    TRUE,
    UNITTEST,
)


def demands(test: ast.expr, scope: Scope, line: int, *, negated: bool = False) -> list[Assertion]:
    """Say what a condition demands; what `and` joins are demands of their own."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return demands(operand, scope, line, negated=not negated)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.Or) == negated:
            return [one for value in values for one in demands(value, scope, line, negated=negated)]
        case ast.BoolOp(values=values):
            return [_either(test, values, scope, line, negated=negated)]
        case ast.Compare(left=left, ops=ops, comparators=rights) if len(ops) > 1:
            lefts = [left, *rights[:-1]]
            pairs = [
                ast.Compare(one, [op], [other]) for one, op, other in zip(lefts, ops, rights, strict=True)
            ]
            return [made for pair in pairs for made in demands(pair, scope, line, negated=negated)]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            kind = NEGATED[type(op)] if negated else type(op)
            return [compared(left, kind, right, scope, line)]
        case ast.Call(func=ast.Name(id="bool"), args=[inner]):
            return demands(inner, scope, line, negated=negated)
        case ast.Call() if not negated and (made := _from_predicate(test, scope, line)) is not None:
            return [made]
        case ast.NamedExpr(value=value):
            return demands(value, scope, line, negated=negated)
        case _:
            return [_true(test, scope, line, negated=negated)]


def _true(test: ast.expr, scope: Scope, line: int, *, negated: bool) -> Assertion:
    subject = value_of(test, scope)
    settled = truth(test)
    if (settled is False and not negated) or (settled is True and negated):
        return Assertion(Rank.EQUAL, "fail", "", "", line, "assert False")
    made = _made(Rank.TRUE, "false" if negated else "true", subject, Value(""), line, test)
    if subject.reaches and settled is None:
        return made
    return made._replace(void=(Kind.ALWAYS_TRUE, "it is always true"))


def _either(test: ast.expr, values: list[ast.expr], scope: Scope, line: int, *, negated: bool) -> Assertion:
    inner = demands(values[0], scope, line, negated=negated)[0]
    made = inner._replace(
        rank=min(inner.rank, Rank.PARTLY), form="or", expected=value_of(test, scope).text, text=_words(test)
    )
    settled = truth(test)
    if settled is not None and settled != negated:
        return made._replace(void=(Kind.ALWAYS_TRUE, "it is always true"))
    void = next(
        (one.void for value in values for one in demands(value, scope, line, negated=negated) if one.void),
        None,
    )
    return made._replace(void=void)


def compared(
    left: ast.expr, op: type[ast.cmpop], right: ast.expr, scope: Scope, line: int, text: ast.AST | None = None
) -> Assertion:
    """Say what a comparison demands; the side that can be wrong is the subject."""
    whole = text or ast.Compare(left, [op()], [right])
    sign = SIGNS[op]
    if sign in ("==", "!="):
        if isinstance(right, ast.Constant) and isinstance(right.value, bool):
            return demands(left, scope, line, negated=right.value is (sign == "!="))[0]
        close = _near(left, right, scope, line, whole) or _near(right, left, scope, line, whole)
        if sign == "==" and close is not None:
            return close
    one, other = value_of(left, scope), value_of(right, scope)
    if (
        sign in ("==", "!=", *MIRRORED)
        and other.reaches
        and (not one.reaches or _is_expectation(left, one, other))
    ):
        left, right, one, other, sign = right, left, other, one, MIRRORED.get(sign, sign)
    if sign in ("in", "not in"):
        return _membership((left, right), scope, sign, line, whole)
    if sign == "==":
        return _equal(one, other, line, whole)
    if sign == "!=":
        is_none = isinstance(right, ast.Constant) and right.value is None
        return _made(Rank.TRUE if is_none else Rank.PARTLY, "!=", one, other, line, whole)
    bound = number(right)
    size = re.fullmatch(r"len\((.*)\)", one.text)
    if size and (sign, bound) in ((">", 0.0), (">=", 1.0)):
        return _made(Rank.TRUE, sign, one, other, line, whole)
    made = _made(Rank.PARTLY, sign, one, other, line, whole)._replace(bound=bound)
    if size and (sign, bound) in ((">=", 0.0), (">", -1.0)):
        return made._replace(void=(Kind.ALWAYS_TRUE, "a length is never negative"))
    if sign in ("<", "<=") and (span := _distance(left)) is not None:
        return _close(value_of(span[0], scope), value_of(span[1], scope), bound, line, whole)
    return made


def _is_expectation(left: ast.expr, one: Value, other: Value) -> bool:
    """Tell whether the left side reads as the expectation: a name for it against a call."""
    return not one.calls and bool(other.calls) and isinstance(left, ast.Name | ast.Attribute | ast.Constant)


def _membership(
    sides: tuple[ast.expr, ast.expr], scope: Scope, sign: str, line: int, whole: ast.AST
) -> Assertion:
    left, right = sides
    one, other = value_of(left, scope), value_of(right, scope)
    if not one.reaches and other.reaches:
        return _made(Rank.PARTLY, f"has {sign}", other, one, line, whole)
    made = _made(Rank.PARTLY, sign, one, other, line, whole)
    if not isinstance(right, ast.Tuple | ast.List | ast.Set):
        return made
    if sign == "in" and len(right.elts) == 1:
        return _equal(one, value_of(right.elts[0], scope), line, whole)
    if any(ast.dump(element) == ast.dump(left) for element in right.elts):
        return made._replace(void=(Kind.COMPARED_WITH_ITSELF, "it is among what it is compared with"))
    return made


def _equal(one: Value, other: Value, line: int, whole: ast.AST) -> Assertion:
    made = _made(Rank.EQUAL, "==", one, other, line, whole)
    if one.text == other.text and one.reaches:
        return made._replace(void=(Kind.COMPARED_WITH_ITSELF, "both sides are the same"))
    if other.text.rpartition(".")[2] == "ANY":
        return made._replace(void=(Kind.ALWAYS_TRUE, "ANY equals anything"))
    return made


def _made(rank: Rank, form: str, one: Value, other: Value, line: int, whole: ast.AST) -> Assertion:
    subject, expected = one.text, other.text
    if form == "==" and one.reaches and other.reaches and subject > expected:
        subject, expected = expected, subject
    return Assertion(
        rank,
        form,
        subject,
        expected,
        line,
        _words(whole),
        given=one.literals,
        literals=other.literals,
        calls=one.calls,
        circular=bool(one.calls & other.calls) or (one.reaches and one.text in other.text),
        void=None if one.reaches or other.reaches else (Kind.ALWAYS_TRUE, "nothing of the product is in it"),
    )


def _words(node: ast.AST) -> str:
    return shortened(ast.unparse(node))


def _close(one: Value, other: Value, tolerance: float | None, line: int, whole: ast.AST) -> Assertion:
    made = _made(Rank.CLOSE, "==", one, other, line, whole)._replace(tolerance=tolerance, form="~")
    if tolerance == float("inf"):
        return made._replace(void=(Kind.ALWAYS_TRUE, "anything is close enough"))
    return made


def _near(left: ast.expr, right: ast.expr, scope: Scope, line: int, whole: ast.AST) -> Assertion | None:
    """Read `== approx(...)` and `round(...) ==`."""
    match right:
        case ast.Call(func=ast.Name(id="approx") | ast.Attribute(attr="approx"), args=[expected, *rest]):
            options = {word.arg: number(word.value) for word in right.keywords}
            options |= dict(zip(("rel", "abs"), (number(one) for one in rest), strict=False))
            size = abs(number(expected) or 1.0)
            relative, absolute = options.get("rel"), options.get("abs")
            if relative is None:
                relative = 0.0 if absolute is not None else 1e-6
            tolerance = max(relative * size, absolute or 1e-12)
            return _close(value_of(left, scope), value_of(expected, scope), tolerance, line, whole)
        case ast.Call(func=ast.Name(id="round"), args=[inner, *rest]) if value_of(inner, scope).reaches:
            places = number(rest[0]) if rest else 0.0
            return _close(value_of(inner, scope), value_of(left, scope), _half(places), line, whole)
        case _:
            return None


def _half(places: float | None) -> float | None:
    """Give how far off something may be that is right to so many places."""
    return None if places is None else 0.5 * 10.0 ** -min(max(places, -300.0), 300.0)


def _distance(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    match node:
        case ast.Call(
            func=ast.Name(id="abs") | ast.Attribute(attr="fabs" | "abs"),
            args=[ast.BinOp(left=left, op=ast.Sub(), right=right)],
        ):
            return left, right
        case _:
            return None


def _last(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _within(call: ast.Call, scope: Scope, line: int) -> Assertion:
    """Read assertions of nearness: `assertAlmostEqual`, `assert_allclose`, `isclose`."""
    option, usual = CLOSE[_last(call)]
    options = {word.arg: number(word.value) for word in call.keywords}
    if len(call.args) > 2:
        options.setdefault(option, number(call.args[2]))
    one, other = value_of(call.args[0], scope), value_of(call.args[1], scope)
    if usual is not None:
        places = options.get(option, options.get("places", float(usual)))
        tolerance = options.get("delta") or _half(places)
    else:
        size = abs(number(call.args[1]) or 1.0)
        relative = options.get("rtol", options.get("rel_tol", options.get(option)))
        absolute = options.get("atol", options.get("abs_tol"))
        tolerance = max((1e-7 if relative is None else relative) * size, absolute or 0.0)
    if not one.reaches and other.reaches:
        one, other = other, one
    return _close(one, other, tolerance, line, call)


def _from_predicate(call: ast.Call, scope: Scope, line: int) -> Assertion | None:
    """Read a call whose truth is demanded."""
    name = _last(call)
    if name in ("isclose", "allclose") and len(call.args) >= 2:
        return _within(call, scope, line)
    if name in ("array_equal", "equals") and call.args:
        sides = call.args if len(call.args) > 1 else [_receiver(call), call.args[0]]
        return compared(sides[0], ast.Eq, sides[1], scope, line, call)
    if name in PARTLY or name in TRUE:
        return _of_call(call, scope, line, Rank.PARTLY if name in PARTLY else Rank.TRUE)
    return None


def _receiver(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def _of_call(call: ast.Call, scope: Scope, line: int, rank: Rank) -> Assertion:
    """Make a demand of a call: of what it is asked, or of its first argument; the rest is expected."""
    name = _last(call)
    is_method = isinstance(call.func, ast.Attribute) and not (name.startswith("assert") and call.args)
    subject, rest = (
        (_receiver(call), call.args) if is_method or not call.args else (call.args[0], call.args[1:])
    )
    if name.startswith("assert_") and isinstance(call.func, ast.Attribute) and "call" in name + "await":
        subject, rest = _receiver(call), call.args
    if name in ("any", "all") and call.args:
        subject, rest = call.args[0], []
    words = [ast.keyword(arg=word.arg, value=word.value) for word in call.keywords if word.arg != "msg"]
    expected = value_of(
        ast.Call(func=ast.Name(id=name), args=rest, keywords=words),
        Scope({}, {})._replace(names=scope.names, imports=scope.imports),
    )
    return _made(rank, name, value_of(subject, scope), expected, line, call)


def from_call(call: ast.Call, scope: Scope) -> list[Assertion] | None:
    """Say what a call that stands alone demands; None when it demands nothing that we know of."""
    name, line = _last(call), call.lineno
    if name in UNITTEST and len(call.args) >= 2:
        return [compared(call.args[0], UNITTEST[name], call.args[1], scope, line, call)]
    if name in ("assertTrue", "failUnless", "assert_", "ok_") and call.args:
        return demands(call.args[0], scope, line)
    if name in ("assertFalse", "failIf") and call.args:
        return demands(call.args[0], scope, line, negated=True)
    if name in ("assertIsNone", "assertIsNotNone") and call.args:
        none = ast.Constant(value=None)
        return [
            compared(call.args[0], ast.Is if name == "assertIsNone" else ast.IsNot, none, scope, line, call)
        ]
    if name in CLOSE and len(call.args) >= 2 and name not in ("isclose", "allclose"):
        return [_within(call, scope, line)]
    if name in ("fail", "xfail") and isinstance(call.func, ast.Attribute) and name == "fail":
        return [Assertion(Rank.EQUAL, "fail", "", "", line, _words(call))]
    if name in RAISING:
        return None
    if name in TRUE and name.startswith("assert"):
        return [_of_call(call, scope, line, Rank.TRUE)]
    if name in PARTLY and name.startswith("assert"):
        return [_of_call(call, scope, line, Rank.PARTLY)]
    if ASSERTING.match(name):
        return [_of_call(call, scope, line, Rank.EQUAL)]
    return None


def raising(call: ast.Call, body: str, calls: frozenset[str], scope: Scope) -> Assertion:
    """Say what `raises` demands of the code under it."""
    options = {word.arg: word.value for word in call.keywords}
    kinds = value_of(call.args[0], scope).text if call.args else _last(call)
    pattern = options.get("match", options.get("expected_regex"))
    if pattern is None and _last(call).endswith("Regex") and len(call.args) > 1:
        pattern = call.args[1]
    if pattern is not None and constant(pattern) in ("", ".*", ".+", "^", "$"):
        pattern = None
    form = "raises" if "aise" in _last(call) else "warns"
    return Assertion(
        Rank.EQUAL,
        form,
        body,
        f"{kinds}|{value_of(pattern, scope).text if pattern is not None else ''}",
        call.lineno,
        shortened(f"{_last(call)}({kinds.rpartition('.')[2] if ',' not in kinds else kinds})"),
        calls=calls,
    )
