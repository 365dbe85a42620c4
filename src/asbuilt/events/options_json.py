"""Convert run options to plain JSON values, and back.

Rule: `plain_options(read_options(plain))` has every key of `plain` with its value, except that a key inside a
list of tables which this version does not know is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from asbuilt.events.convert import convert
from asbuilt.events.options import Extra, RunOptions

_MORE: Final = "more"


def read_options(plain: Mapping[str, Any]) -> RunOptions:
    """Read options; raise `msgspec.ValidationError` for a value that its field cannot have."""
    named = {name: value for name, value in plain.items() if name != _MORE}
    known = convert(named, RunOptions)
    return structs.replace(known, more=tuple(sorted(_extras(plain, known), key=lambda extra: extra.path)))


def plain_options(options: RunOptions) -> dict[str, Any]:
    """Return options as plain values, without the options that a run does not have."""
    plain: dict[str, Any] = msgspec.to_builtins(structs.replace(options, more=()))
    del plain[_MORE]
    for extra in options.more:
        table: Any = plain
        for name in extra.path[:-1]:
            table = table.get(name) if isinstance(table, dict) else None
        if isinstance(table, dict):
            table.setdefault(extra.path[-1], extra.value)
    return plain


def _extras(
    plain: Mapping[str, Any], known: Struct | dict[str, Any], path: tuple[str, ...] = ()
) -> Iterator[Extra]:
    """Yield the keys of a table that have no field."""
    stored = () if isinstance(known, dict) else known.__struct_encode_fields__
    fields = known if isinstance(known, dict) else dict(zip(stored, structs.astuple(known), strict=True))
    for name, value in plain.items():
        if name not in fields or (not path and name == _MORE):
            yield Extra(path=(*path, name), value=value)
        elif isinstance(value, dict) and isinstance(fields[name], Struct | dict):
            yield from _extras(value, fields[name], (*path, name))
