"""Write outcomes into a plan: only what has landed, with the landed hashes, in the manner of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.errors import EditRefused, NotFound
from asbuilt.plan.edit import mark_phase
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from collections.abc import Mapping

_HASH = 10


def marked(data: bytes, landed: Mapping[str, str]) -> bytes:
    """Mark phases done, their boxes too, each with the commit that landed it.

    A phase that the text has no certain place for, or that a person has taken out meanwhile, is left alone:
    the journal knows what is done, and a guess would not make the file truer.
    """
    for phase, commit in landed.items():
        try:
            edit = mark_phase(read(data), phase, Status.DONE, commit=commit[:_HASH], items=True).edit
        except (EditRefused, NotFound):
            continue
        data = edit.apply(data)[0]
    return data
