"""Functions of a file: of Python by its syntax tree, of languages with braces by tokens. Pure.

Rule: a function that a subclass has to write, such as an abstract one, is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from asbuilt.proof.suites.parsing import Code, Function, dotted

Named = ast.FunctionDef | ast.AsyncFunctionDef
_OPEN: Final = ("Protocol", "ABC")
"""Base classes whose functions are for subclasses to write."""
_UNWRITTEN: Final = ("abstractmethod", "overload")
_NO_NAMES: Final = frozenset(
    (
        "if for while switch catch with match foreach when synchronized return throw new await yield typeof "
        "function func fn async else class"
    ).split()
)
_ENDS: Final = frozenset((";", ",", "}", "=", "&&", "||", "?", ":="))
_LONGEST: Final = 24
"""Most tokens between a function's parameters and its body: its result type."""


class Braced(NamedTuple):
    """A function by its tokens."""

    name: str
    line: int
    at: int
    """Index of its name."""
    opening: int
    """Index of the bracket that opens its parameters."""
    begin: int
    """Index of the brace that opens its body."""


def functions_of(tree: ast.AST, of: str = "") -> Iterator[tuple[str, Named]]:
    """Yield the functions at any depth of Python code, by their names in their classes and functions."""
    for node in ast.iter_child_nodes(tree):
        inside = of
        if isinstance(node, ast.ClassDef):
            if any(dotted(base).endswith(_OPEN) for base in node.bases):
                continue
            inside = f"{of}{node.name}."
        elif isinstance(node, Function):
            if not any(dotted(expr).endswith(_UNWRITTEN) for expr in node.decorator_list):
                yield of + node.name, node
            inside = f"{of}{node.name}."
        yield from functions_of(node, inside)


def braced_functions(code: Code) -> Iterator[Braced]:
    """Yield the functions of a file with braces, methods and those that a name is set to."""
    for at, token in enumerate(code.tokens):
        if token.kind != "name" or token.text in _NO_NAMES or code.word(at - 1) in (".", "new"):
            continue
        opening = _parameters(code, at)
        begin = None if opening is None else _body(code, code.closing(opening))
        if opening is not None and begin is not None:
            yield Braced(token.text, token.line, at, opening, begin)


def _parameters(code: Code, at: int) -> int | None:
    """Return where the parameters of a function start: `f(`, `f<T>(`, `f = (`; None: this name is of none."""
    begin = _after_types(code, at + 1)
    if code.word(begin) in ("=", ":"):
        begin += 1
        while code.word(begin) in ("async", "function"):
            begin += 1
    return begin if code.word(begin) == "(" else None


def _after_types(code: Code, at: int) -> int:
    """Return where the parameters of a type that are written here end."""
    depth = 0
    for end in range(at, at + _LONGEST if code.word(at) in ("<", "[") else at):
        depth += (code.word(end) in ("<", "[")) - (code.word(end) in (">", "]"))
        if depth == 0:
            return end + 1
    return at


def _body(code: Code, closing: int) -> int | None:
    """Return where a function's body opens after its parameters; None: it is a call."""
    at = closing + 1
    while at < min(closing + _LONGEST, len(code.tokens)):
        word, is_next = code.word(at), at == closing + 1
        if word == "{" and (is_next or code.tokens[at].line == code.tokens[closing].line):
            return at
        if word in _ENDS or word in _NO_NAMES or word == ")":
            return None
        at = code.closing(at) + 1 if word == "(" else at + 1
    return None
