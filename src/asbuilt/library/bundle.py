"""A plan packed for another machine: its exact bytes, and the digest that proves them on arrival."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.errors import PlanUnreadable
from asbuilt.plan.markdown.source import MAX_BYTES, digest

if TYPE_CHECKING:
    from asbuilt.library.finding import Opened

SCHEMA: Final = "asbuilt.bundle/1"
MAX_BUNDLE: Final = 3 * MAX_BYTES
"""A plan and its progress document, each a third longer than in the file, and some words."""
_IS_BUNDLE: Final = re.compile(rb'\s*\{\s*"schema"\s*:\s*"asbuilt\.bundle/')


class Beside(NamedTuple):
    """The progress document that came with a plan."""

    file: str
    """Its path as the plan names it: foreign words, to be judged before anything is written there."""
    data: bytes


class Packed(NamedTuple):
    """A plan as it arrived."""

    name: str
    data: bytes
    companion: Beside | None = None


def pack(opened: Opened) -> dict[str, Any]:
    """Pack a plan, with the progress document that it names."""
    bundle: dict[str, Any] = {
        "schema": SCHEMA,
        "slug": opened.at.slug,
        "intent": opened.plan.intent,
        **_packed(opened.plan.source.data),
    }
    if opened.companion is not None:
        bundle["companion"] = {
            "file": opened.plan.companion,
            **_packed(opened.companion[1].source.data),
        }
    return bundle


def unpack(data: bytes) -> Packed | None:
    """Open a bundle; None when the bytes are no bundle but, say, Markdown."""
    if not _IS_BUNDLE.match(data):
        return None
    if len(data) > MAX_BUNDLE:
        raise _damaged(f"it is longer than {MAX_BUNDLE:,} bytes")
    try:
        bundle = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged("it is not whole") from error
    if bundle["schema"] != SCHEMA:
        raise _damaged(f"it is of the kind {bundle['schema']}, and this version reads {SCHEMA}")
    companion = bundle.get("companion")
    beside = None
    if isinstance(companion, dict):
        beside = Beside(str(companion.get("file")), _content(companion, "its progress document"))
    return Packed(str(bundle.get("slug") or "plan"), _content(bundle, "its plan"), beside)


def _packed(data: bytes) -> dict[str, str]:
    return {"digest": digest(data), "content": base64.b64encode(data).decode()}


def _content(packed: dict[str, Any], what: str) -> bytes:
    try:
        content = base64.b64decode(str(packed.get("content", "")), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _damaged(f"{what} is not whole") from error
    if digest(content) != packed.get("digest"):
        raise _damaged(f"{what} does not have the digest that it was sent with")
    return content


def _damaged(how: str) -> PlanUnreadable:
    return PlanUnreadable(
        f"the bundle cannot be taken in: {how}",
        why="A plan that is not byte for byte what was sent is another plan.",
        next_step="Export it again with the same version of asbuilt.",
    )
