"""Resolve how a project is tested and prepared: by its settings, else by what is found in its tree.

Rule: nothing here runs a command, and what the settings do not name is a proposal, never an answer.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from asbuilt.proof.projects import model
from asbuilt.proof.projects.finding import Found, find
from asbuilt.proof.projects.index import installs, is_within, parent

if TYPE_CHECKING:
    from asbuilt.events.options import Counting

_NAME: Final = 80
_UP: Final = re.compile(r"cd ((?:\.\./)*\.\.) && ")


def resolve(
    given: Sequence[model.Suite] | None, project: model.Project, *, counts: Counting | None = None
) -> model.Resolved:
    """Resolve the suites: those of the settings, where an empty list means no tests, else the tree's."""
    if given is not None:
        return model.Given(tuple(given)) if given else model.NoTests(is_stated=True)
    found = find(project)
    if found.docker:
        return model.NeedsDocker(_shown(found.docker), found.suites)
    if found.suites:
        suites = tuple(suite._replace(counts=counts or suite.counts) for suite in found.suites)
        return model.Detected(suites, _shown(found.signs), found.others, _shown(found.unknown))
    return model.Unknown(_shown(found.unknown)) if found.unknown else model.NoTests()


def resolve_setup(
    given: str | None, project: model.Project, suites: Sequence[model.Suite] | None = None
) -> model.Setup:
    """Resolve the setup: the command of the settings, where "" means none, else what the suites need.

    `suites` has those that the settings name; a suite without its own setup gets the setup of the tree's
    suites in its folder.
    """
    command = given.strip() if given is not None else joined(_prepared(suites, find(project)))
    if not command:
        return model.NO_SETUP
    seen = sorted((name, file) for name, file in project.names.items() if installs(name))
    return model.Setup(command, hashlib.sha256(json.dumps([command, seen]).encode()).hexdigest()[:32])


def _prepared(given: Sequence[model.Suite] | None, found: Found) -> Iterator[model.Suite]:
    for suite in found.suites if given is None else given:
        if given is None or suite.setup:
            yield suite._replace(setup="" if suite.setup == "none" else suite.setup)
            continue
        inside = [found_suite for found_suite in found.suites if is_within(found_suite.folder, suite.folder)]
        above = [found_suite for found_suite in found.suites if is_within(suite.folder, found_suite.folder)]
        yield from inside or above[-1:]


def joined(suites: Iterable[model.Suite]) -> str:
    """Join the setups of several suites into one command; equal setups in one folder run once."""
    steps: dict[tuple[str, str], None] = {}
    for suite in suites:
        folder, command = suite.folder, suite.setup.strip()
        if above := _UP.match(command):
            command = command[above.end() :]
            for _ in above[1].split("/"):
                folder = parent(folder)
        if command:
            steps[folder, command] = None
    if len(steps) == 1 and ("", command := next(iter(steps))[1]) in steps:
        return command
    return " && ".join(f"(cd {shlex.quote(folder or '.')} && {command})" for folder, command in steps)


def _shown(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        "".join(letter if letter.isprintable() else "?" for letter in name[:_NAME]) for name in names
    )
