"""The page of every kind of event: its fields, their types and what is written when they are left out."""

from __future__ import annotations

import ast
import inspect
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Final

from msgspec import NODEFAULT, structs

from asbuilt.events.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.events.event import Event

_LEAD: Final = """\
A plan's journal is a list of events. `asbuilt log PLAN --json` prints them: `seq`, `key` (an event is written
once under its key), `kind`, `v` (the version of the kind), `at`, `actor`, and `data` with the fields below
and, for an event of a run, `run`. A field that is left out has its default. A digest (`sha256:…`) names a
text that is kept beside the journal. Kinds and fields that this version does not know are kept, and shown as
they were written."""


def page() -> Iterator[str]:
    """Give the page part by part, one section for each module."""
    yield _LEAD
    modules: dict[str, list[type[Event]]] = {}
    for known in KINDS.values():
        modules.setdefault(known.__module__, []).append(known)
    for name, kinds in modules.items():
        module = import_module(name)
        yield f"## {name.rpartition('.')[2].capitalize()}"
        yield (module.__doc__ or "").strip()
        for known in kinds:
            yield from _kind(known)


def _kind(known: type[Event]) -> Iterator[str]:
    version = f", version {known.version}" if known.version > 1 else ""
    yield f"### {known.kind}{version}"
    yield inspect.getdoc(known) or ""
    rows = [_row(known, one) for one in structs.fields(known)]
    if rows:
        yield "\n".join(["| field | type | default | |", "|---|---|---|---|", *rows])


def cell_code(text: str) -> str:
    """Write code for a cell of a table. The site would show the backslash of an escaped bar."""
    return f"<code>{escape(text, quote=False).replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def _row(known: type[Event], one: structs.FieldInfo) -> str:
    text = _declared(known).get(one.name, "")
    typed, meaning = text if isinstance(text, tuple) else (text, "")
    default = "" if one.required else f"`{_plain(one.default)}`"
    return f"| `{one.encode_name}` | {cell_code(typed)} | {default} | {meaning} |"


def _plain(default: object) -> str:
    return (
        "nothing"
        if default in (None, NODEFAULT, (), "") or not isinstance(default, int | str)
        else str(default)
    )


def _declared(known: type[Event]) -> dict[str, tuple[str, str]]:
    """Read the fields of a class and of those above it with their types and the words below them."""
    found: dict[str, tuple[str, str]] = {}
    for one in reversed(known.__mro__):
        if not one.__module__.startswith("asbuilt.events"):
            continue
        body = ast.parse(inspect.getsource(one)).body[0]
        if not isinstance(body, ast.ClassDef):
            continue
        for at, line in enumerate(body.body):
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                below = body.body[at + 1] if at + 1 < len(body.body) else None
                said = (
                    below.value.value
                    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                    else ""
                )
                found[line.target.id] = (ast.unparse(line.annotation), " ".join(str(said).split()))
    return found
