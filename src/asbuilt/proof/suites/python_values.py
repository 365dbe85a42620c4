"""Python expressions by what they mean in a test: locals replaced by their values, imports by what they name.

The one rule: two spellings of the same value give the same text.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
from typing import Final, NamedTuple, cast

_BUILTINS: Final = frozenset(dir(builtins))
_LONGEST: Final = 600


class Value(NamedTuple):
    """What an expression stands for."""

    text: str
    literals: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    reaches: bool = False
    """True: it depends on more than literals and builtins, so it can be wrong."""


class Scope(NamedTuple):
    """The names that a piece of code sees."""

    names: dict[str, Value]
    imports: dict[str, str]

    def inner(self, **names: Value) -> Scope:
        """Give a scope inside this one."""
        return Scope({**self.names, **names}, self.imports)


def value_of(node: ast.AST, scope: Scope) -> Value:
    """Say what an expression stands for."""
    spelling = _Spelling(scope)
    text = _bounded(ast.unparse(spelling.visit(node)))
    return Value(text, frozenset(spelling.literals), frozenset(spelling.calls), spelling.reaches)


def kept(value: Value) -> Value:
    """Give a value that may have changed since: it is known by where it began, and can be wrong."""
    return value._replace(text=_bounded(f"kept({value.text})"), reaches=True)


def dotted(node: ast.AST, imports: dict[str, str]) -> str:
    """Give the full name of a name or attribute, through its import; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return f"?.{'.'.join(reversed(parts))}" if parts else ""
    return ".".join([imports.get(node.id, node.id), *reversed(parts)])


def imports_of(tree: ast.AST) -> dict[str, str]:
    """Give every imported name with what it names, wherever in the file it is imported."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{'.' * node.level}{node.module or ''}.{alias.name}"
    return found


def constant(node: ast.AST | None) -> object:
    """Give what a literal number or text is; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant(node.operand)
        return -inner if isinstance(inner, int | float) else None
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "float"
        and node.args
    ):
        said = constant(node.args[0])
        return (
            float("inf") if isinstance(said, str) and said.strip("+").casefold().startswith("inf") else said
        )
    if isinstance(node, ast.Attribute) and node.attr == "inf":
        return float("inf")
    return None


def number(node: ast.AST | None) -> float | None:
    """Give a literal number."""
    value = constant(node)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def truth(node: ast.AST) -> bool | None:
    """Tell whether a condition is always or never met; None: it depends."""
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
            return bool(elts)
        case ast.Dict(keys=keys):
            return bool(keys)
        case ast.Lambda() | ast.JoinedStr(values=[ast.Constant(), *_]):
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth(operand)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values):
            known = [truth(one) for one in values]
            decisive = isinstance(op, ast.Or)
            if decisive in known:
                return decisive
            return None if None in known else not decisive
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
        case ast.Compare(left=ast.Constant(value=left), ops=[op], comparators=[ast.Constant(value=right)]):
            return _settled(left, op, right)
        case _:
            return None


def _settled(left: object, op: ast.cmpop, right: object) -> bool | None:
    if isinstance(op, ast.Eq | ast.Is):
        return left == right
    if isinstance(op, ast.NotEq | ast.IsNot):
        return left != right
    return None


def _bounded(text: str) -> str:
    """Keep texts short: values that are put into values would else grow without end."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[:80]}…{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


class _Spelling(ast.NodeVisitor):
    """Build a new tree in which every name stands for its value, and collect what is met on the way."""

    def __init__(self, scope: Scope) -> None:
        self.names = dict(scope.names)
        self.imports = scope.imports
        self.literals: set[str] = set()
        self.calls: set[str] = set()
        self.reaches = False
        self._bound = 0

    def visit(self, node: ast.AST) -> ast.expr:
        return cast("ast.expr", super().visit(node))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        made = type(node)()
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(made, name, self.visit(value))
            elif isinstance(value, list):
                setattr(made, name, [self.visit(one) if isinstance(one, ast.AST) else one for one in value])
            else:
                setattr(made, name, value)
        return made

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.names.get(node.id)
        if value is not None:
            self.literals |= value.literals
            self.calls |= value.calls
            self.reaches |= value.reaches
            return ast.Name(id=value.text, ctx=ast.Load())
        self.reaches |= node.id not in _BUILTINS
        return ast.Name(id=self.imports.get(node.id, node.id), ctx=ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        self.literals.add(repr(node.value))
        return ast.Constant(value=node.value)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = dotted(node.func, self.imports)
        if name and name not in _BUILTINS:
            self.calls.add(name.rpartition(".")[2])
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        # Unparsing an f-string around a substituted text may need quotes that it has no room for.
        parts = [one.value if isinstance(one, ast.FormattedValue) else one for one in node.values]
        return ast.Call(func=ast.Name(id="text"), args=[self.visit(one) for one in parts], keywords=[])

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        return self.visit(node.value)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        outer = dict(self.names)
        for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            self._bind(one.arg)
        body = self.visit(node.body)
        self.names = outer
        return ast.Call(func=ast.Name(id="function"), args=[body], keywords=[])

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> ast.AST:
        outer = dict(self.names)
        parts: list[ast.expr] = []
        for one in node.generators:
            parts.append(self.visit(one.iter))
            for name in ast.walk(one.target):
                if isinstance(name, ast.Name):
                    self._bind(name.id)
            parts += [self.visit(one.target), *(self.visit(test) for test in one.ifs)]
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        parts += [self.visit(one) for one in made]
        self.names = outer
        return ast.Call(func=ast.Name(id=type(node).__name__), args=parts, keywords=[])

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension  # noqa: N815

    def _bind(self, name: str) -> None:
        self._bound += 1
        self.names[name] = Value(f"each{self._bound}")
