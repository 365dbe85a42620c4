"""Resolutions in options and events: what the settings chose, what the user has to accept, what was recorded.

Rule: imports none of the detection, because every screen reads recorded resolutions.
"""

from __future__ import annotations

import hashlib
import json
from typing import Final, assert_never

from asbuilt.events.options import Counting, RunOptions, value_or
from asbuilt.events.phases import TestsResolved
from asbuilt.events.questions import TestsKey
from asbuilt.proof.projects.model import (
    Detected,
    Given,
    NeedsDocker,
    NoTests,
    Resolved,
    Suite,
    Unknown,
    suites_of,
)


def chosen(options: RunOptions) -> tuple[Suite, ...] | None:
    """Return the suites in a run's options: empty if the user wants no tests; None to find them."""
    counts: Counting = options.counts or "tests"
    if options.suites:
        return tuple(
            Suite(suite.folder, suite.command, suite.runner or "", suite.counts or counts, suite.setup)
            for suite in options.suites
        )
    command = value_or(options.tests, None)
    if command is None:
        return None
    return (Suite("", command, counts=counts),) if command.strip() else ()


def proposal(resolved: Resolved) -> TestsKey | None:
    """Return the key of the proposal that the user has to accept; equal proposals have equal keys."""
    match resolved:
        case Given() | NoTests():
            return None
        case Detected(suites=(Suite(folder="", command=command, counts="tests"),), unknown=()):
            parts = ["with", command]
        case Detected(suites=suites, unknown=unknown):
            parts = ["with", *(suite.shown for suite in suites), *(f"not {sign}" for sign in unknown)]
        case Unknown(found=found):
            parts = ["without", *found]
        case NeedsDocker(found=found):
            parts = ["docker", *found]
        case _:
            assert_never(resolved)
    return TestsKey(digest=hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16])


def written(
    resolved: Resolved, *, agreed: str | None = None, brought: bool = False, has_files: bool = True
) -> TestsResolved:
    """Return the event of a resolution; the suites' setup is in the event of the setup."""
    suites = suites_of(resolved)
    return TestsResolved(
        source=_SOURCES[type(resolved)],
        command=suites[0].command if len(suites) == 1 else None,
        found=tuple(getattr(resolved, "found", ())),
        said=getattr(resolved, "is_stated", False),
        suites=tuple(suite[:4] for suite in suites),
        unknown=tuple(getattr(resolved, "unknown", ())),
        agreed=agreed,
        brought=brought,
        has_files=has_files,
    )


_SOURCES: Final = {
    Given: "given",
    Detected: "detected",
    Unknown: "unknown",
    NeedsDocker: "docker",
    NoTests: "notests",
}


def read_back(event: TestsResolved) -> Resolved:
    """Read a resolution from its event; an event without suites has a single command."""
    found = event.found
    suites = tuple(_suite(*plain) for plain in event.suites)
    if not suites and event.command:
        suites = (Suite("", event.command),)
    match event.source:
        case "given":
            return Given(suites)
        case "detected":
            return Detected(suites, found, (), event.unknown)
        case "unknown":
            return Unknown(found)
        case "docker":
            return NeedsDocker(found)
        case _:
            return NoTests(event.said)


def _suite(folder: str, command: str, runner: str = "", counts: str = "tests") -> Suite:
    return Suite(folder, command, runner, "exit-code" if counts == "exit-code" else "tests")
