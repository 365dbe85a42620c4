"""Where Python tests put something in place of the product. What is replaced and judged proves nothing."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from asbuilt.proof.suites.model import Kind, Severity, Trace, shortened
from asbuilt.proof.suites.python_failing import Function
from asbuilt.proof.suites.python_values import constant, dotted

if TYPE_CHECKING:
    from collections.abc import Iterator


def trace(kind: Kind, severity: Severity, node: ast.AST, text: str = "") -> Trace:
    """Make a trace of a piece of code, known again by its own words wherever it is moved."""
    line = getattr(node, "lineno", 1)
    key = f"{kind}|{text}|{ast.unparse(node)}"
    return Trace(kind, severity, line, shortened(text or ast.unparse(node)), key)


def replacements(tree: ast.Module, imports: dict[str, str], asserted: frozenset[str]) -> Iterator[Trace]:
    """Find where the tests put something in place of what they judge."""
    for function, node in _placed(tree):
        target = _target(node, imports)
        if target is None:
            continue
        name = target.rpartition(".")[2]
        is_test = function is not None and function.name.startswith("test")
        if name in asserted and (not is_test or _judges(function, name)):
            yield trace(
                Kind.PRODUCT_REPLACED,
                Severity.FAILS,
                node,
                f"{name} is replaced, and judged: {ast.unparse(node)}",
            )
        elif _is_around_all(function) and not _is_of_python(target):
            yield trace(Kind.PRODUCT_REPLACED, Severity.SIGN_OFF, node)


def _judges(function: Function | None, name: str) -> bool:
    if function is None:
        return True
    calls = (
        node for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.Call)
    )
    return any(dotted(one.func, {}).rpartition(".")[2] == name for one in calls)


def _placed(tree: ast.Module) -> Iterator[tuple[Function | None, ast.AST]]:
    """Give every call and assignment with the function that it stands in."""
    waiting: list[tuple[Function | None, ast.AST]] = [(None, tree)]
    while waiting:
        owner, node = waiting.pop()
        if isinstance(node, ast.Call | ast.Assign) or (isinstance(node, Function) and owner is not None):
            yield owner, node
        if isinstance(node, Function) and node.name.startswith("test"):
            waiting.extend((node, one) for one in node.args.args)
        if isinstance(node, ast.arg) and owner is not None:
            yield owner, node
        inner = node if isinstance(node, Function) else owner
        waiting.extend((inner, child) for child in ast.iter_child_nodes(node))


def _target(node: ast.AST, imports: dict[str, str]) -> str | None:
    if isinstance(node, ast.Assign):
        roots = {name.partition(".")[0] for name in imports.values()}
        for one in node.targets:
            if isinstance(one, ast.Attribute):
                name = dotted(one, imports)
                if name.lstrip(".").partition(".")[0] in roots and not name.startswith("?"):
                    return name
        return None
    if isinstance(node, Function | ast.arg):
        # What a test defines, or is handed, under the name of what was imported.
        name = node.name if isinstance(node, Function) else node.arg
        return f".{name}" if name in imports else None
    if not isinstance(node, ast.Call):
        return None
    name = dotted(node.func, imports)
    last = name.rpartition(".")[2]
    words = [said for one in node.args if isinstance(said := constant(_end(one)), str)]
    if last in ("setattr", "patch", "object", "replace") and ("patch" in name or last == "setattr") and words:
        first = str(words[0])
        return first if "." in first else f"{dotted(node.args[0], imports)}.{first}"
    return None


def _end(node: ast.expr) -> ast.expr:
    """Give the last piece of a text that is put together: it names what is replaced."""
    if isinstance(node, ast.BinOp):
        return node.right
    return node.values[-1] if isinstance(node, ast.JoinedStr) and node.values else node


def _is_around_all(function: Function | None) -> bool:
    """Tell whether code runs for tests that do not ask for it: as a file is loaded, or around every test."""
    return function is None or "autouse" in "".join(map(ast.unparse, function.decorator_list))


def _is_of_python(target: str) -> bool:
    return target.lstrip(".").partition(".")[0] in sys.stdlib_module_names
