"""A plan packed for another machine: its exact bytes, and a digest that is checked on arrival."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.errors import PlanUnreadable
from asbuilt.plan.markdown.source import MAX_BYTES, digest

if TYPE_CHECKING:
    from asbuilt.library.read_plan import Opened

SCHEMA: Final = "asbuilt.bundle/1"
MAX_BUNDLE: Final = 3 * MAX_BYTES
"""Room for a plan and its progress document in base64 (a third longer than the file), and metadata."""
_IS_BUNDLE: Final = re.compile(rb'\s*\{\s*"schema"\s*:\s*"asbuilt\.bundle/')


class Beside(NamedTuple):
    """The progress document of a packed plan."""

    file: str
    """Its path as the plan names it: untrusted, to be checked before anything is written there."""
    data: bytes


class Packed(NamedTuple):
    """An unpacked plan."""

    name: str
    data: bytes
    progress_document: Beside | None = None


def pack(opened: Opened) -> dict[str, Any]:
    """Pack a plan with its progress document."""
    bundle: dict[str, Any] = {
        "schema": SCHEMA,
        "slug": opened.at.slug,
        "intent": opened.plan.intent,
        **_packed(opened.plan.source.data),
    }
    if opened.progress_document is not None:
        beside = _packed(opened.progress_document[1].source.data)
        bundle["companion"] = {"file": opened.plan.progress_document, **beside}
    return bundle


def unpack(data: bytes) -> Packed | None:
    """Unpack a bundle; None when the data is not a bundle but, for example, Markdown."""
    if not _IS_BUNDLE.match(data):
        return None
    if len(data) > MAX_BUNDLE:
        raise _damaged(f"it is longer than {MAX_BUNDLE:,} bytes")
    try:
        bundle = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged("it is incomplete or not valid JSON") from error
    if bundle["schema"] != SCHEMA:
        raise _damaged(f"its format is {bundle['schema']}; this version reads {SCHEMA}")
    packed = bundle.get("companion")
    beside = None
    if isinstance(packed, dict):
        beside = Beside(str(packed.get("file")), _content(packed, "its progress document"))
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
        f"the bundle cannot be imported: {how}",
        why="asbuilt imports only a bundle that is unchanged since its export.",
        next_step="`asbuilt plan export PLAN`, where the plan is, with the same version",
    )
