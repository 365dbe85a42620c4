"""Parse Python code. A file that cannot be parsed returns None, never an exception."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Final

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ENCODING: Final = re.compile(rb"coding[:=]\s*[-\w.]+")
_DEEPEST: Final = 80
"""Most levels of a syntax tree: a deeper one is generated and could exhaust the stack."""


def parsed(data: bytes) -> ast.Module | None:
    """Parse a file; None if it is invalid or too deep."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not _ENCODING.search(data[:400]):
                data.decode()
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return tree if _depth(tree) <= _DEEPEST else None


def _depth(tree: ast.Module) -> int:
    depth, level = 0, list[ast.AST]((tree,))
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def dotted(node: ast.AST) -> str:
    """Return the dotted name of a name or attribute; `?` in place of any other base."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "?", *reversed(parts)])


def constant(node: ast.AST | None) -> object:
    """Return the value of a literal or a negated number; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant(node.operand)
        return -inner if isinstance(inner, int | float) else None
    return node.value if isinstance(node, ast.Constant) else None


def imports_of(tree: ast.AST) -> dict[str, str]:
    """Return every imported name with its origin, wherever in the file it is imported."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{'.' * node.level}{node.module or ''}.{alias.name}"
    return found
