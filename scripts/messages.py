"""Read every message that asbuilt can stop with out of its source, for docs/reference/troubleshooting.md."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt import errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VARIES: Final = "…"


class Message(NamedTuple):
    """What a person reads; what varies is an ellipsis."""

    what: str
    why: str
    next_step: str


def kinds() -> dict[str, type[errors.AsbuiltError]]:
    """Name every kind of error, in the order of its file."""
    classes = [value for value in vars(errors).values() if inspect.isclass(value)]
    return {
        kind.__name__: kind
        for kind in classes
        if issubclass(kind, errors.AsbuiltError) and kind is not errors.AsbuiltError
    }


def messages(source: Path) -> dict[str, list[Message]]:
    """Collect what stands in the source for each kind, each message once."""
    found: dict[str, set[Message]] = {name: set() for name in kinds()}
    for file in sorted(source.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for name, call in _calls(tree, found):
            words = {word.arg: word.value for word in call.keywords}
            parts = (call.args[0], words["why"], words["next_step"])
            found[name].add(Message(*(_text(part, constants) for part in parts)))
    return {name: sorted(every) for name, every in found.items()}


def _calls(tree: ast.Module, names: dict[str, set[Message]]) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node.func.id, node


def _text(node: ast.expr, constants: dict[str, ast.expr]) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value, constants) for value in values)
        case ast.BoolOp(op=ast.Or(), values=[*_, text]):
            return _text(text, constants)
        case ast.IfExp(body=body, orelse=other):
            return f"{_text(body, constants)} / {_text(other, constants)}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left, constants) + _text(right, constants)
        case ast.Name(id=name) if name in constants:
            return _text(constants[name], constants)
        case _:
            return VARIES


def page(source: Path) -> Iterator[str]:
    """Write the part of the page that is made from the source."""
    every = messages(source)
    for name, kind in kinds().items():
        yield f"## {name}"
        yield f"{inspect.cleandoc(kind.__doc__ or '')} Exit code {kind.exit_code}."
        # A message that is put together elsewhere says nothing here.
        yield from (_entry(message) for message in every[name] if message.what.strip(VARIES))


def _entry(message: Message) -> str:
    rows = [f"**{_escaped(message.what)}**"]
    for label, text in (("Why", message.why), ("Next", message.next_step)):
        if text.strip(VARIES):
            rows.append(f"- {label}: {_escaped(text)}")
    return f"{rows[0]}\n\n" + "\n".join(rows[1:])


def _escaped(text: str) -> str:
    """Keep names like `*.css` and `<ref>` as they are, outside the backticks of a command."""
    parts = text.split("`")
    plain = [part if at % 2 else _plain(part) for at, part in enumerate(parts)]
    return "`".join(plain) if len(parts) % 2 else _plain(text)


def _plain(text: str) -> str:
    for sign in "\\*_<>[]":
        text = text.replace(sign, f"\\{sign}")
    return text
