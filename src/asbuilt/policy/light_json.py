"""Read and write JSON with the C scanner only: the json package takes longer to load than a hook may. Pure.

Rule: anything but exactly one JSON value raises ValueError.
"""

from __future__ import annotations

from _json import encode_basestring_ascii, make_scanner

_BLANK = " \t\n\r"


class _Terms:
    """Attributes that the scanner reads."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(name: str) -> float:
        raise ValueError(f"{name} is no JSON")


_scan = make_scanner(_Terms())  # type: ignore[arg-type]  # any object with these names will do


def read(text: str) -> object:
    """Parse one value."""
    whole = text.strip(_BLANK)
    try:
        value, end = _scan(whole, 0)
    except (StopIteration, RecursionError, SystemError) as error:
        # SystemError: the scanner tries to raise an error of the json package, which is not loaded.
        raise ValueError("this is no JSON") from error
    if end != len(whole):
        raise ValueError("unexpected text after the JSON")
    return value


def write(value: object) -> str:
    """Write one value of dicts, lists, tuples, strings, numbers, booleans and None, on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{write(str(key))}:{write(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(write, value)) + "]"
    raise ValueError(f"{type(value).__name__} is no JSON")
