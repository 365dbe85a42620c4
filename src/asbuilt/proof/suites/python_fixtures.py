"""What pytest hands to a test by its parameters' names. Its one rule: only what is spelled out counts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from asbuilt.proof.suites.python_values import Scope, dotted, value_of

if TYPE_CHECKING:
    from asbuilt.proof.suites.python_bodies import Aid
    from asbuilt.proof.suites.python_failing import Function
    from asbuilt.proof.suites.python_values import Value


def handed_to(function: Function, aids: dict[str, Aid]) -> dict[str, Value]:
    """Give the parameters of a test that stand for a literal, because a fixture returns just that."""
    found = {}
    for parameter in (*function.args.args, *function.args.kwonlyargs):
        aid = aids.get(parameter.arg)
        given = None if aid is None else _returned(aid.function)
        if aid is not None and given is not None and is_literal(given):
            found[parameter.arg] = value_of(given, Scope({}, aid.imports))
    return found


def is_literal(node: ast.expr) -> bool:
    """Tell whether an expression is spelled out: it can be known without running anything."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _returned(function: Function) -> ast.expr | None:
    marks = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    if not any(dotted(mark, {}).rpartition(".")[2] == "fixture" for mark in marks):
        return None
    last = function.body[-1]
    # More than a docstring before it may change what is returned.
    return last.value if isinstance(last, ast.Return) and len(function.body) <= 1 + _told(function) else None


def _told(function: Function) -> int:
    return ast.get_docstring(function, clean=False) is not None
