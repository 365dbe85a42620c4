"""Every place in the sources where something is refused, read from the sources themselves."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

from asbuilt import errors

SOURCES = Path(errors.__file__).parent
CLASSES = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.AsbuiltError)
}
HOLE = "\0"


class Place(NamedTuple):
    """One refusal: where it stands, and its three texts with holes for what is filled in."""

    file: str
    kind: str
    what: str
    why: str
    next_step: str

    @property
    def name(self) -> str:
        """Below `cli`, `cli/commands` is left out."""
        return f"{self.file.removeprefix('cli/').removeprefix('commands/')} {shown(self.what)}"

    def said(self, text: str) -> bool:
        """Tell whether a text can be this refusal's first line."""
        pattern = ".*".join(map(re.escape, " ".join(self.what.split()).split(HOLE)))
        return re.fullmatch(pattern, text, re.DOTALL) is not None


def places() -> list[Place]:
    """List them all."""
    found = []
    for file in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CLASSES:
                texts = {one.arg: _text(one.value) for one in node.keywords}
                whats = _either(node.args[0]) if node.args else [""]
                steps = [
                    step for one in node.keywords if one.arg == "next_step" for step in _either(one.value)
                ]
                where = file.relative_to(SOURCES).as_posix()
                found += [
                    Place(where, node.func.id, what, texts.get("why", ""), step)
                    for what in whats
                    for step in steps or [""]
                ]
    return found


def commands(text: str) -> list[str]:
    """List the commands that a text has in backticks; one whose very name is filled in cannot be told."""
    quoted = (one for one in text.split("`")[1::2] if one.startswith(("asbuilt", "git ")))
    return [one.replace(HOLE, "x") for one in quoted if not one.startswith(f"asbuilt {HOLE}")]


def shown(text: str) -> str:
    return text.replace(HOLE, "{}")


def _either(node: ast.expr) -> list[str]:
    return [*_either(node.body), *_either(node.orelse)] if isinstance(node, ast.IfExp) else [_text(node)]


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(map(_text, values))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
        case ast.IfExp(body=body, orelse=orelse):
            return f"{_text(body)} {_text(orelse)}"
        case _:
            return HOLE
