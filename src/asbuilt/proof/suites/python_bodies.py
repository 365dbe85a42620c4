"""What a Python function checks, statement by statement, with the functions that it calls to check.

The one rule: an assertion counts only where it is reached and where its failure is seen.
"""

from __future__ import annotations

import ast
from typing import Final, NamedTuple

from asbuilt.proof.suites.model import Assertion, Idle, Kind, Rank, shortened
from asbuilt.proof.suites.python_demands import demands, from_call, raising
from asbuilt.proof.suites.python_failing import (
    Function,
    called_in,
    detached_in,
    exposed_in,
    fails,
    hides_failures,
    is_alone,
    is_wide,
    only_fails,
    swallows,
)
from asbuilt.proof.suites.python_values import Scope, Value, dotted, kept, truth, value_of
from asbuilt.proof.suites.python_vocabulary import RAISING

_DEEPEST: Final = 4
_AIDED: Final = 500
_MOST: Final = 2_000
_SKIPS: Final = ("skip", "skipTest", "SkipTest", "importorskip", "exit")
SWALLOWED: Final = (Kind.FAILURE_SWALLOWED, "its failure is caught and forgotten")
_DETACHED: Final = (Kind.FAILURE_SWALLOWED, "it fails where nobody sees it, in another thread")
_ALONE: Final = (Kind.ALWAYS_TRUE, "nothing of the product is in it")
_OWN: Final = (Kind.ALWAYS_TRUE, "the test raises itself what it expects")
_DEAD: Final = (Kind.ALWAYS_TRUE, "it is never reached")


class Aid(NamedTuple):
    """A function of the tests that other tests may call."""

    function: Function
    imports: dict[str, str]


class Body(NamedTuple):
    """What one function checks."""

    assertions: tuple[Assertion, ...]
    idle: tuple[Idle, ...]


def read_body(
    function: Function, imports: dict[str, str], aids: dict[str, Aid], names: dict[str, Value]
) -> Body:
    """Read one function, with some of its names given."""
    walk = _Walk(Scope(dict(names), imports), aids, exposed_in(function), detached_in(function))
    walk.settle(names)
    walk.visit(function.body)
    if not walk.found:
        walk.found = [
            Assertion(
                Rank.RUNS, "runs", act.value.text, "", act.line, shortened(act.text), act.value.literals,
                calls=act.value.calls, guard=act.guard, void=act.void,
            )
            for act in walk.acts
        ]  # fmt: skip
    return Body(tuple(walk.found[:_MOST]), tuple(walk.idle))


class _Act(NamedTuple):
    """A call that checks nothing by itself, but must not raise."""

    value: Value
    line: int
    text: str
    guard: str
    void: tuple[Kind, str] | None


class _Walk:
    """One way through a function."""

    def __init__(
        self,
        scope: Scope,
        aids: dict[str, Aid],
        exposed: frozenset[str],
        detached: frozenset[str] = frozenset(),
    ) -> None:
        self.scope = scope
        self.aids = aids
        self.exposed = exposed
        self.detached = detached
        self.found: list[Assertion] = []
        self.acts: list[_Act] = []
        self.idle: list[Idle] = []
        self.guards: tuple[str, ...] = ()
        self.void: tuple[Kind, str] | None = None
        self.loose = 0
        """How deep in code that may run never, or more than once."""
        self.depth = 0
        self.aided = [0]
        """How many calls were read in place, by all walks through one test."""
        self.line: int | None = None
        """The line of the call, in code of an aid."""

    def settle(self, names: dict[str, Value]) -> None:
        for name, value in names.items():
            self.scope.names[name] = self._settled(name, value)

    def visit(self, body: list[ast.stmt]) -> None:
        guards, void = self.guards, self.void
        for statement in body:
            if len(self.found) > _MOST:
                break
            self._statement(statement)
            if isinstance(statement, ast.Return | ast.Continue | ast.Break):
                self.void = self.void or _DEAD
        self.guards, self.void = guards, void

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assert(test=test):
                for one in ast.walk(test):
                    if isinstance(one, ast.NamedExpr):
                        self._bind(one.target, value_of(one.value, self.scope), one.value)
                self._demand(demands(test, self.scope, self._at(node)))
            case ast.Expr(value=value):
                self._expression(value)
            case ast.Return(value=value) if value is not None:
                self._expression(value)
            case ast.Assign(targets=targets, value=value):
                self._expression(value, is_bound=True)
                for target in targets:
                    self._bind(target, value_of(value, self.scope), value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._expression(value, is_bound=True)
                self._bind(target, value_of(value, self.scope), value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                began = self.scope.names.get(name, Value(name, reaches=True))
                added = value_of(value, self.scope)
                self.scope.names[name] = kept(Value(f"{began.text}+{added.text}"))
            case ast.If():
                self._if(node)
            case ast.For() | ast.AsyncFor():
                self._for(node)
            case ast.While(test=test, body=body):
                self._apart(body, dead=truth(test) is False)
            case ast.With() | ast.AsyncWith():
                self._with(node)
            case ast.Try():
                self._try(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name in self.exposed:
                void = self.void
                self.void = void or (_DETACHED if node.name in self.detached else None)
                self._apart(node.body)
                self.void = void
            case ast.Match(cases=cases):
                for case in cases:
                    self._guarded(f"case {ast.unparse(case.pattern)}", case.body)
            case ast.Raise(exc=exc) if exc is not None:
                self._raise(exc, node)
            case _:
                return

    def _at(self, node: ast.stmt | ast.expr) -> int:
        return self.line or node.lineno

    def _guard(self) -> str:
        return " and ".join(self.guards)

    def _demand(self, made: list[Assertion]) -> None:
        for one in made:
            void = one.void or self.void or (_ALONE if is_alone(one.calls, self.aids) else None)
            held = one._replace(guard=self._guard(), void=void)
            self.found.append(held._replace(line=self.line) if self.line else held)

    def _raise(self, exc: ast.expr, node: ast.stmt) -> None:
        text = ast.unparse(exc)
        if "SkipTest" in text or "skip.Exception" in text:
            self.idle.append(
                Idle(Kind.TEST_SKIPPED, self._guard(), self._at(node), shortened(f"raise {text}"))
            )
        else:
            self._demand([Assertion(Rank.EQUAL, "fail", "", "", self._at(node), shortened(f"raise {text}"))])

    def _expression(self, value: ast.expr, *, is_bound: bool = False) -> None:
        if isinstance(value, ast.Await):
            value = value.value
        if not isinstance(value, ast.Call):
            if is_bound or isinstance(value, ast.Attribute | ast.Subscript | ast.Compare):
                self._act(value)
            return
        name = dotted(value.func, self.scope.imports)
        last = name.rpartition(".")[2]
        if last in _SKIPS and name in _idling(last):
            # `pytest.exit` ends the whole session.
            self._skip(value, Kind.TEST_SKIPPED)
        elif last == "assume" and value.args:
            self.guards = (*self.guards, value_of(value.args[0], self.scope).text)
        elif last == "xfail":
            self._skip(value, Kind.TEST_EXPECTED_TO_FAIL)
        elif last in RAISING and len(value.args) > 1 and not last.endswith("Regex"):
            called = ast.Call(func=value.args[1], args=value.args[2:], keywords=value.keywords)
            inner = value_of(called, self.scope)
            self._demand([raising(value, inner.text, inner.calls, self.scope)])
        elif last in self.aids and self._aided(self.aids[last], value):
            return
        elif (made := from_call(value, self.scope)) is not None:
            self._demand(made)
        else:
            self._act(value)

    def _act(self, value: ast.expr) -> None:
        made = value_of(value, self.scope)
        if made.reaches:
            self.acts.append(_Act(made, self._at(value), ast.unparse(value), self._guard(), self.void))

    def _skip(self, call: ast.Call, kind: Kind) -> None:
        said = "" if self.void == _DEAD else self._guard()
        if dotted(call.func, {}).endswith("importorskip") and call.args:
            said = f"import {ast.unparse(call.args[0])}"
        if self.void != _DEAD:
            self.idle.append(Idle(kind, said, self._at(call), shortened(ast.unparse(call))))

    def _aided(self, aid: Aid, call: ast.Call) -> bool:
        """Read the function that is called in place of the call; False when it asserts nothing."""
        if self.depth >= _DEEPEST or self.aided[0] >= _AIDED:
            return False
        self.aided[0] += 1
        inner = _Walk(
            Scope(_arguments(aid, call, self.scope), aid.imports), self.aids, exposed_in(aid.function)
        )
        inner.depth, inner.line, inner.aided = self.depth + 1, self._at(call), self.aided
        inner.guards, inner.void, inner.loose = self.guards, self.void, self.loose
        inner.settle(dict(inner.scope.names))
        inner.visit(aid.function.body)
        self.found += inner.found
        self.idle += inner.idle
        return bool(inner.found)

    def _settled(self, name: str, value: Value) -> Value:
        """Give what a name stands for from here on: a list that others are handed may come back changed."""
        is_mutable = value.text[:1] in "[{" or value.text.startswith(("list(", "dict(", "set(", "bytearray("))
        return kept(value) if self.loose or (is_mutable and name in self.exposed) else value

    def _bind(self, target: ast.expr, value: Value, node: ast.expr | None = None) -> None:
        match target:
            case ast.Name(id=name):
                self.scope.names[name] = self._settled(name, value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                inner = (
                    node.elts
                    if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(elts)
                    else None
                )
                for at, one in enumerate(elts):
                    if inner is not None:
                        self._bind(one, value_of(inner[at], self.scope), inner[at])
                    else:
                        self._bind(one, value._replace(text=f"{value.text}[{at}]", reaches=True))
            case ast.Starred(value=inner_target):
                self._bind(inner_target, value._replace(text=f"*{value.text}", reaches=True))
            case _:
                return

    def _apart(self, body: list[ast.stmt], *, dead: bool = False) -> None:
        """Visit code that may run never or often."""
        void = self.void
        self.void = void or (_DEAD if dead else None)
        self.loose += 1
        self.visit(body)
        self.loose -= 1
        self.void = void

    def _guarded(self, guard: str, body: list[ast.stmt]) -> None:
        guards = self.guards
        self.guards = (*guards, guard) if guard else guards
        self._apart(body)
        self.guards = guards

    def _if(self, node: ast.If) -> None:
        settled = truth(node.test)
        if settled is not None:
            self._apart(node.body, dead=not settled)
            self._apart(node.orelse, dead=settled)
            return
        if only_fails(node.body):
            self._demand(demands(node.test, self.scope, self._at(node), negated=True))
            self.visit(node.orelse)
            return
        said = value_of(node.test, self.scope).text
        before = len(self.found)
        self._guarded(said, node.body)
        middle = len(self.found)
        self._guarded(f"not {said}", node.orelse)
        if before < middle < len(self.found):
            # Both ways check: which one is taken is the test's own affair.
            self.found[before:] = [one._replace(guard=self._guard()) for one in self.found[before:]]
        if node.body and isinstance(node.body[-1], ast.Return | ast.Continue) and middle == before:
            self.guards = (*self.guards, f"not {said}")

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        source = node.iter
        if isinstance(source, ast.Tuple | ast.List | ast.Set) and not any(
            isinstance(one, ast.Starred) for one in source.elts
        ):
            for one in source.elts:
                self._bind(node.target, value_of(one, self.scope), one)
                self.visit(node.body)
            if not source.elts:
                self._apart(node.body, dead=True)
            return
        whole = value_of(source, self.scope)
        self.loose += 1
        self._bind(node.target, whole._replace(text=f"each of {whole.text}", reaches=True))
        self.loose -= 1
        self._apart(node.body)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        void, guards = self.void, self.guards
        demanding: ast.Call | None = None
        for item in node.items:
            call = item.context_expr
            name = dotted(call.func, self.scope.imports) if isinstance(call, ast.Call) else ""
            last = name.rpartition(".")[2]
            if isinstance(call, ast.Call) and last in RAISING:
                demanding = call
            elif isinstance(call, ast.Call) and last == "suppress":
                if any(is_wide(one) for one in call.args):
                    self.void = self.void or SWALLOWED
                else:
                    self.guards = (*self.guards, f"no {', '.join(ast.unparse(one) for one in call.args)}")
            elif last in self.aids and hides_failures(self.aids[last].function):
                self.void = self.void or SWALLOWED
            elif last != "subTest":
                self._act(call)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value_of(call, self.scope)._replace(reaches=True))
        if demanding is None:
            self.visit(node.body)
        else:
            self._under_raises(demanding, node.body)
        self.void, self.guards = void, guards

    def _under_raises(self, call: ast.Call, body: list[ast.stmt]) -> None:
        outer, self.acts = self.acts, []
        self.visit(body)
        under, self.acts = self.acts, outer
        subject = "; ".join(act.value.text for act in under)
        calls = frozenset(name for act in under for name in act.value.calls) or called_in(body)
        given = frozenset(literal for act in under for literal in act.value.literals)
        void = _OWN if any(isinstance(one, ast.Raise) for one in body[1:]) else None
        self._demand([raising(call, subject, calls, self.scope)._replace(given=given, void=void)])

    def _try(self, node: ast.Try) -> None:
        void, guards = self.void, self.guards
        expects = only_fails(node.body) or only_fails(node.orelse)
        if swallows(node) or any(isinstance(one, ast.Return | ast.Break) for one in node.finalbody):
            self.void = void or SWALLOWED
        elif node.handlers and not expects and not all(fails(handler.body) for handler in node.handlers):
            kinds = ", ".join(ast.unparse(one.type) for one in node.handlers if one.type is not None)
            self.guards = (*guards, f"no {kinds}")
        self._apart(node.body)
        self.void, self.guards = void, guards
        for handler in node.handlers:
            self._guarded(
                "" if expects else f"raised {ast.unparse(handler.type) if handler.type else ''}", handler.body
            )
        self._apart(node.orelse)
        self.visit(node.finalbody)


def _idling(last: str) -> tuple[str, ...]:
    own = ("self", "cls", "pytest", "unittest", "unittest.case", "?")
    return (*(f"{owner}.{last}" for owner in own), *(() if last == "exit" else (last,)))


def _arguments(aid: Aid, call: ast.Call, scope: Scope) -> dict[str, Value]:
    """Give the names of a called function with what they are called with."""
    spec = aid.function.args
    names = [one.arg for one in [*spec.posonlyargs, *spec.args]]
    if names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
        names = names[1:]
    found = {
        name: Value(f"argument {name}", reaches=True)
        for name in [*names, *(one.arg for one in spec.kwonlyargs)]
    }
    for name, default in zip(reversed(names), reversed(spec.defaults), strict=False):
        found[name] = value_of(default, Scope({}, aid.imports))
    for one, other in zip(spec.kwonlyargs, spec.kw_defaults, strict=False):
        if other is not None:
            found[one.arg] = value_of(other, Scope({}, aid.imports))
    for name, value in zip(names, call.args, strict=False):
        found[name] = value_of(value, scope)
    for word in call.keywords:
        if word.arg in found:
            found[word.arg] = value_of(word.value, scope)
    return found
