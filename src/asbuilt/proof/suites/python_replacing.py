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
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            called = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
            if any(dotted(one.func, {}).rpartition(".")[2] == name for one in called):
                return True
    return False


def _placed(tree: ast.Module) -> Iterator[tuple[Function | None, ast.AST]]:
    """Give every call and assignment with the function that it stands in."""
    waiting: list[tuple[Function | None, ast.AST]] = [(None, tree)]
    while waiting:
        owner, node = waiting.pop()
        if isinstance(node, ast.Call | ast.Assign):
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
    if not isinstance(node, ast.Call):
        return None
    name = dotted(node.func, imports)
    last = name.rpartition(".")[2]
    words = [constant(one) for one in node.args if isinstance(constant(one), str)]
    if last in ("setattr", "patch", "object", "replace") and ("patch" in name or last == "setattr") and words:
        first = str(words[0])
        return first if "." in first else f"{dotted(node.args[0], imports)}.{first}"
    return None


def _is_around_all(function: Function | None) -> bool:
    """Tell whether code runs for tests that do not ask for it: as a file is loaded, or around every test."""
    return function is None or "autouse" in "".join(map(ast.unparse, function.decorator_list))


def _is_of_python(target: str) -> bool:
    return target.lstrip(".").partition(".")[0] in sys.stdlib_module_names
