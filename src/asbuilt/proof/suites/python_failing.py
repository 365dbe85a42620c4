"""Whether Python code fails, or hides that something failed, or hands on what it checks."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Final

from asbuilt.proof.suites.python_values import dotted, truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.proof.suites.python_bodies import Aid

_BUILTINS: Final = frozenset(dir(builtins))
Function = ast.FunctionDef | ast.AsyncFunctionDef
_THREADS: Final = frozenset(("Thread", "Timer", "Process", "start_new_thread"))
_WIDE: Final = frozenset(("Exception", "BaseException", "AssertionError", "pytest.fail.Exception"))


def swallows(statement: ast.Try) -> bool:
    """Tell whether a failed assertion in a `try` would not be seen outside of it."""
    return any(is_wide(handler.type) and not fails(handler.body) for handler in statement.handlers)


def hides_failures(function: Function) -> bool:
    """Tell whether a decorator or context manager catches the failures of what it is put around."""
    return any(
        isinstance(node, ast.Try) and swallows(node) and _gives_way(node) for node in ast.walk(function)
    )


def _gives_way(node: ast.Try) -> bool:
    inner = [one for statement in node.body for one in ast.walk(statement)]
    return any(isinstance(one, ast.Yield | ast.YieldFrom | ast.Call) for one in inner)


def called_in(body: list[ast.stmt]) -> frozenset[str]:
    """Name what is called by its plain name in some code."""
    calls = (one.func for statement in body for one in ast.walk(statement) if isinstance(one, ast.Call))
    return frozenset(called.id for called in calls if isinstance(called, ast.Name))


def is_alone(calls: frozenset[str], aids: Mapping[str, Aid]) -> bool:
    """Tell whether all that is called are functions of the tests which use nothing but themselves."""
    return bool(calls) and all(name in aids and not _reaches(aids[name]) for name in calls)


def _reaches(aid: Aid) -> bool:
    """Tell whether a function may use the product: something imported, or whatever it is handed to use."""
    own = {one.arg for one in ast.walk(aid.function) if isinstance(one, ast.arg)}
    for node in ast.walk(aid.function):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Yield | ast.YieldFrom | ast.Await):
            return True
        if isinstance(node, ast.Name) and node.id in aid.imports:
            return True
        if isinstance(node, ast.Call) and (
            not isinstance(node.func, ast.Name) or node.func.id in own or node.func.id not in _BUILTINS
        ):
            return True
    return False


def is_wide(node: ast.expr | None) -> bool:
    """Tell whether catching this catches a failed assertion."""
    if node is None:
        return True
    if isinstance(node, ast.Tuple):
        return any(is_wide(one) for one in node.elts)
    return dotted(node, {}).removeprefix("builtins.") in _WIDE


def fails(body: list[ast.stmt]) -> bool:
    """Tell whether code ends in a failure, or looks at what was caught."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Raise | ast.Assert):
                return True
            if isinstance(node, ast.Call) and dotted(node.func, {}).rpartition(".")[2] in (
                "fail", "exit", "_exit", "append", "add", "put", "set_exception"
            ):  # fmt: skip
                return True
            if isinstance(node, ast.Call) and dotted(node.func, {}).rpartition(".")[2].startswith("assert"):
                return True
    return False


def only_fails(body: list[ast.stmt]) -> bool:
    """Tell whether code does nothing in the end but fail."""
    if not body:
        return False
    match body[-1]:
        case ast.Raise(exc=exc) if exc is not None:
            return "Skip" not in ast.unparse(exc)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="fail") | ast.Name(id="fail"))):
            return True
        case ast.Assert(test=test):
            return truth(test) is False
        case _:
            return False


def detached_in(function: Function) -> frozenset[str]:
    """Give the functions that are handed to a thread: what they raise ends there."""
    return frozenset(
        name.id
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and dotted(node.func, {}).rpartition(".")[2] in _THREADS
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    )


def exposed_in(function: Function) -> frozenset[str]:
    """Give the names that are used outside of assertions: what they hold may be changed there."""
    inside: set[int] = set()
    for node in ast.walk(function):
        is_assert = isinstance(node, ast.Assert) or (
            isinstance(node, ast.Call) and dotted(node.func, {}).rpartition(".")[2].startswith("assert")
        )
        if is_assert:
            inside.update(id(one) for one in ast.walk(node))
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name) and id(node) not in inside]
    return frozenset(node.id for node in names if isinstance(node.ctx, ast.Load))
