"""Convert plain values into Structs, one thread at a time.

Rule: no other code calls `msgspec.convert` or decodes into a Struct. msgspec resolves the types of a class
when it first needs them; two threads that do so at once crash the interpreter (msgspec 0.22, seen with two
segments of one worker).
"""

from __future__ import annotations

import threading
from typing import Any, Final, TypeVar

import msgspec

_GUARD: Final = threading.Lock()
Type = TypeVar("Type")


def convert(value: object, type_: type[Type], *, strict: bool = True) -> Type:
    """Convert a plain value; raise `msgspec.ValidationError` where it does not fit."""
    with _GUARD:
        return msgspec.convert(value, type_, strict=strict)


def convert_union(value: object, union: Any) -> Any:  # noqa: ANN401 - a union of types is no type
    """Convert a plain value into one of several tagged Structs."""
    with _GUARD:
        return msgspec.convert(value, union)
