"""The failures that an event reports, read from the event and its blobs. Read-only.

Rule: facts that an older journal lacks are left out, never invented.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from asbuilt.errors import NotFound, StoreFailed
from asbuilt.lifecycle.run.last_failure import FailedStep, failed_step
from asbuilt.proof.evidence import evidence_from
from asbuilt.proof.failure import Failure, checkout_of, explained, failure_of

if TYPE_CHECKING:
    from asbuilt.events.event import Event
    from asbuilt.journal.blobs import Blobs


def failures_in(blobs: Blobs, event: Event) -> tuple[Failure, ...]:
    """Return the failures of the step that an event reports; empty if it did not fail."""
    step = failed_step(event)
    return () if step is None else failures_of(blobs, step)


def failures_of(blobs: Blobs, step: FailedStep) -> tuple[Failure, ...]:
    """Return the failures of a step, in the order in which its commands ran."""
    kept = _blob(blobs, step.evidence)
    if kept:
        shown = (evidence_from(one) for one in json.loads(kept))
        return tuple(
            failure_of(one, _blob(blobs, one.output), on_base=step.what == "baseline")
            for one in shown
            if one.outcome != "PASS"
        )
    if not step.command and step.output is None:
        # Only the event's text is known: an older journal, or a change that was refused before any command
        # ran.
        return ()
    failure = Failure(
        step.what,
        step.command,
        step.folder or (checkout_of("") if step.what == "setup" else ""),
        step.exit_code,
        timed_out=step.timed_out,
        duration_s=step.duration_s,
    )
    return (explained(failure, _blob(blobs, step.output), agent=step.agent),)


def _blob(blobs: Blobs, digest: str | None) -> bytes:
    """Read a blob; empty if it was deleted or is damaged."""
    with suppress(NotFound, StoreFailed):
        return b"" if digest is None else blobs.get(digest)
    return b""
