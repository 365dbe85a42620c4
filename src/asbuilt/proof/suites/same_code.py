"""Whether two texts of a file run the same: only what a reader sees differs. Pure.

Rule: code in a language that is not parsed here is never the same.
"""

from __future__ import annotations

import ast
from enum import Flag, auto

from asbuilt.proof.suites.parsing import BRACED, Function, lexed, parsed
from asbuilt.proof.suites.path_roles import language_of


class But(Flag):
    """What is not compared, besides comments, docstrings and whitespace."""

    NOTHING = 0
    ANNOTATIONS = auto()
    PARAMETERS = auto()


def is_same_code(path: str, before: bytes | None, after: bytes | None, but: But = But.NOTHING) -> bool:
    """Return whether two texts of a file run the same, except for `but`; never for a new or deleted file."""
    if before is None or after is None:
        return False
    match language_of(path):
        case "python":
            then, now = parsed(before), parsed(after)
            return then is not None and now is not None and is_same_tree(then, now, but)
        case "shell":
            return uncommented(before) == uncommented(after)
        case language if language in BRACED:
            words = [
                [token.text for token in lexed(side.decode("utf-8", "replace"), language).tokens]
                for side in (before, after)
            ]
            return words[0] == words[1]
        case _:
            return False


def is_same_tree(then: ast.AST, now: ast.AST, but: But = But.NOTHING) -> bool:
    """Return whether two parts of Python code run the same."""
    return _shape(then, but) == _shape(now, but)


def _shape(node: object, but: But) -> object:
    """Return code as nested values, without docstrings and `but`."""
    if isinstance(node, list):
        return [_shape(part, but) for part in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    left_out = {"annotation", "returns"} if But.ANNOTATIONS in but else set()
    left_out |= {"args"} if But.PARAMETERS in but and isinstance(node, Function) else set()
    body = fields.get("body")
    if isinstance(body, list) and body and is_text(body[0]):
        fields["body"] = body[1:]
    return type(node), [_shape(value, but) for name, value in fields.items() if name not in left_out]


def is_text(node: ast.AST) -> bool:
    """Return whether a statement is a text alone, such as a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def uncommented(text: bytes) -> list[str]:
    """Return the lines of a shell script without comments; its first line may name the shell."""
    # Bytes are split only where a shell ends a line.
    lines = (line.decode("utf-8", "replace").strip() for line in text.splitlines())
    return [line for line in lines if line and (not line.startswith("#") or line.startswith("#!"))]
